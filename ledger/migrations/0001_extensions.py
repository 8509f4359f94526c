"""Extensions that the schema stands on; each is one that a database's owner may create (PostgreSQL 13 and later)."""

from django.contrib.postgres.operations import BtreeGistExtension, TrigramExtension, UnaccentExtension
from django.db import migrations


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [TrigramExtension(), UnaccentExtension(), BtreeGistExtension()]
