import django.db.models.deletion
import django.utils.timezone
import ledger.tenancy
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('ledger', '0002_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('id', models.UUIDField(default=ledger.tenancy.new_id, editable=False, primary_key=True, serialize=False)),
                ('title', models.CharField(blank=True, default='', max_length=160)),
                ('desk', models.BooleanField(default=False)),
                ('seq', models.PositiveBigIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('starter', ledger.tenancy.TenantForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.membership')),
                ('tenant', models.ForeignKey(default=ledger.tenancy.tenant_in_scope, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.company')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', 'starter', '-updated_at'], name='conversation_recent')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('desk', True)), fields=('tenant', 'starter'), name='conversation_one_desk'), ledger.tenancy.TenantPolicy(column='tenant_id', name='conversation_tenant'), models.UniqueConstraint(fields=('tenant', 'id'), name='conversation_tenant_id'), ledger.tenancy.CompositeKey(field='starter', name='conversation_starter_same_tenant', to='ledger_membership')],
            },
        ),
        migrations.CreateModel(
            name='DailyUsage',
            fields=[
                ('id', models.UUIDField(default=ledger.tenancy.new_id, editable=False, primary_key=True, serialize=False)),
                ('day', models.DateField()),
                ('calls', models.PositiveIntegerField(default=0)),
                ('tokens', models.PositiveBigIntegerField(default=0)),
                ('cost_micros', models.PositiveBigIntegerField(default=0)),
                ('tenant', models.ForeignKey(default=ledger.tenancy.tenant_in_scope, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.company')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'day'), name='usage_day'), ledger.tenancy.TenantPolicy(column='tenant_id', name='dailyusage_tenant'), models.UniqueConstraint(fields=('tenant', 'id'), name='dailyusage_tenant_id')],
            },
        ),
        migrations.CreateModel(
            name='Turn',
            fields=[
                ('id', models.UUIDField(default=ledger.tenancy.new_id, editable=False, primary_key=True, serialize=False)),
                ('ordinal', models.PositiveIntegerField()),
                ('door', models.CharField(default='web', max_length=12)),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('waiting', 'Waiting'), ('done', 'Done'), ('stopped', 'Stopped'), ('interrupted', 'Interrupted'), ('failed', 'Failed')], default='queued', max_length=12)),
                ('calls', models.PositiveSmallIntegerField(default=0)),
                ('unknown_tools', models.PositiveSmallIntegerField(default=0)),
                ('tokens', models.PositiveIntegerField(default=0)),
                ('outside', models.JSONField(default=list)),
                ('problem', models.CharField(blank=True, default='', max_length=40)),
                ('stop_requested', models.BooleanField(default=False)),
                ('claim', models.UUIDField(null=True)),
                ('lease_until', models.DateTimeField(null=True)),
                ('seq', models.PositiveBigIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('started_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('conversation', ledger.tenancy.TenantForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='turns', to='assistant.conversation')),
                ('member', ledger.tenancy.TenantForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.membership')),
                ('tenant', models.ForeignKey(default=ledger.tenancy.tenant_in_scope, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.company')),
            ],
            options={
                'indexes': [models.Index(fields=['conversation', 'seq'], name='turn_seq')],
                'constraints': [models.UniqueConstraint(fields=('conversation', 'ordinal'), name='turn_ordinal'), models.UniqueConstraint(condition=models.Q(('status__in', ['queued', 'running'])), fields=('conversation',), name='turn_one_at_a_time'), models.CheckConstraint(condition=models.Q(('status__in', ['queued', 'running', 'waiting', 'done', 'stopped', 'interrupted', 'failed'])), name='turn_status'), ledger.tenancy.TenantPolicy(column='tenant_id', name='turn_tenant'), models.UniqueConstraint(fields=('tenant', 'id'), name='turn_tenant_id'), ledger.tenancy.CompositeKey(field='conversation', name='turn_conversation_same_tenant', to='assistant_conversation'), ledger.tenancy.CompositeKey(field='member', name='turn_member_same_tenant', to='ledger_membership')],
            },
        ),
        migrations.CreateModel(
            name='PendingAction',
            fields=[
                ('id', models.UUIDField(default=ledger.tenancy.new_id, editable=False, primary_key=True, serialize=False)),
                ('call_id', models.CharField(blank=True, default='', max_length=128)),
                ('epoch', models.PositiveIntegerField()),
                ('routed', models.BooleanField(default=False)),
                ('approvals', models.PositiveSmallIntegerField(default=1)),
                ('door', models.CharField(max_length=12)),
                ('tool', models.CharField(max_length=60)),
                ('tool_version', models.CharField(max_length=64)),
                ('level', models.PositiveSmallIntegerField()),
                ('effects', models.JSONField()),
                ('operation', models.CharField(max_length=10)),
                ('outside', models.JSONField(default=list)),
                ('arguments', models.TextField()),
                ('reason', models.TextField(blank=True, default='')),
                ('language', models.CharField(max_length=8)),
                ('payload_text', models.TextField()),
                ('payload', models.JSONField()),
                ('preview_text', models.TextField()),
                ('preview', models.JSONField()),
                ('summary', models.TextField()),
                ('targets', models.JSONField()),
                ('digest', models.CharField(max_length=64)),
                ('sameness', models.CharField(max_length=64)),
                ('undo_seconds', models.PositiveIntegerField(default=0)),
                ('compensation', models.CharField(blank=True, default='', max_length=60)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('status', models.CharField(choices=[('pending', 'Waiting for you'), ('awaiting_second', 'Waiting for a second person'), ('scheduled', 'Confirmed, waiting to run'), ('executing', 'Running'), ('in_doubt', 'In doubt'), ('executed', 'Done'), ('failed', 'Not done'), ('rejected', 'Rejected'), ('cancelled', 'Cancelled'), ('expired', 'Expired'), ('superseded', 'Replaced')], default='pending', max_length=16)),
                ('expires_at', models.DateTimeField()),
                ('execute_after', models.DateTimeField(null=True)),
                ('closed_by', models.CharField(blank=True, default='', max_length=32)),
                ('closed_at', models.DateTimeField(null=True)),
                ('receipt', models.JSONField(null=True)),
                ('failure', models.JSONField(null=True)),
                ('seq', models.PositiveBigIntegerField(default=0)),
                ('compensated_by', ledger.tenancy.TenantForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assistant.pendingaction')),
                ('compensates', ledger.tenancy.TenantForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='compensations', to='assistant.pendingaction')),
                ('conversation', ledger.tenancy.TenantForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='actions', to='assistant.conversation')),
                ('edited_from', ledger.tenancy.TenantForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='edits', to='assistant.pendingaction')),
                ('requester', ledger.tenancy.TenantForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.membership')),
                ('superseded_by', ledger.tenancy.TenantForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assistant.pendingaction')),
                ('tenant', models.ForeignKey(default=ledger.tenancy.tenant_in_scope, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.company')),
                ('turn', ledger.tenancy.TenantForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='actions', to='assistant.turn')),
            ],
            options={
                'indexes': [models.Index(fields=['conversation', 'seq'], name='action_seq'), models.Index(fields=['turn'], name='action_turn'), models.Index(condition=models.Q(('status__in', ['pending', 'awaiting_second'])), fields=['tenant', 'conversation'], name='action_open')],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'awaiting_second', 'scheduled', 'executing', 'in_doubt', 'executed', 'failed', 'rejected', 'cancelled', 'expired', 'superseded'])), name='action_status'), models.CheckConstraint(condition=models.Q(('level__gte', 1), ('level__lte', 3)), name='action_level'), models.CheckConstraint(condition=models.Q(('approvals__gte', 1), ('approvals__lte', 2)), name='action_approvals'), models.CheckConstraint(condition=models.Q(('operation__in', ['internal', 'external'])), name='action_operation'), models.UniqueConstraint(condition=models.Q(('status__in', ['pending', 'awaiting_second'])), fields=('conversation', 'sameness'), name='action_same_once_open'), ledger.tenancy.TenantPolicy(column='tenant_id', name='pendingaction_tenant'), models.UniqueConstraint(fields=('tenant', 'id'), name='pendingaction_tenant_id'), ledger.tenancy.CompositeKey(field='conversation', name='pendingaction_conversation_same_tenant', to='assistant_conversation'), ledger.tenancy.CompositeKey(field='turn', name='pendingaction_turn_same_tenant', to='assistant_turn'), ledger.tenancy.CompositeKey(field='requester', name='pendingaction_requester_same_tenant', to='ledger_membership'), ledger.tenancy.CompositeKey(field='edited_from', name='pendingaction_edited_from_same_tenant', to='assistant_pendingaction'), ledger.tenancy.CompositeKey(field='compensates', name='pendingaction_compensates_same_tenant', to='assistant_pendingaction'), ledger.tenancy.CompositeKey(field='superseded_by', name='pendingaction_superseded_by_same_tenant', to='assistant_pendingaction'), ledger.tenancy.CompositeKey(field='compensated_by', name='pendingaction_compensated_by_same_tenant', to='assistant_pendingaction')],
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.UUIDField(default=ledger.tenancy.new_id, editable=False, primary_key=True, serialize=False)),
                ('role', models.CharField(choices=[('user', 'User'), ('assistant', 'Assistant'), ('record', 'Record'), ('line', 'Line')], max_length=10)),
                ('text', models.TextField(blank=True, default='')),
                ('code', models.CharField(blank=True, default='', max_length=40)),
                ('params', models.JSONField(default=dict)),
                ('open', models.BooleanField(default=False)),
                ('silent', models.BooleanField(default=False)),
                ('key', models.UUIDField(null=True)),
                ('position', models.PositiveBigIntegerField(default=0)),
                ('seq', models.PositiveBigIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('author', ledger.tenancy.TenantForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.membership')),
                ('conversation', ledger.tenancy.TenantForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='messages', to='assistant.conversation')),
                ('tenant', models.ForeignKey(default=ledger.tenancy.tenant_in_scope, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.company')),
                ('action', ledger.tenancy.TenantForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='records', to='assistant.pendingaction')),
                ('turn', ledger.tenancy.TenantForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='messages', to='assistant.turn')),
            ],
            options={
                'indexes': [models.Index(fields=['conversation', '-position'], name='message_position'), models.Index(fields=['conversation', 'seq'], name='message_seq')],
                'constraints': [models.UniqueConstraint(fields=('conversation', 'key'), name='message_key'), models.CheckConstraint(condition=models.Q(('role__in', ['user', 'assistant', 'record', 'line'])), name='message_role'), ledger.tenancy.TenantPolicy(column='tenant_id', name='message_tenant'), models.UniqueConstraint(fields=('tenant', 'id'), name='message_tenant_id'), ledger.tenancy.CompositeKey(field='conversation', name='message_conversation_same_tenant', to='assistant_conversation'), ledger.tenancy.CompositeKey(field='turn', name='message_turn_same_tenant', to='assistant_turn'), ledger.tenancy.CompositeKey(field='author', name='message_author_same_tenant', to='ledger_membership'), ledger.tenancy.CompositeKey(field='action', name='message_action_same_tenant', to='assistant_pendingaction')],
            },
        ),
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.UUIDField(default=ledger.tenancy.new_id, editable=False, primary_key=True, serialize=False)),
                ('slot', models.PositiveSmallIntegerField(default=1)),
                ('verdict', models.CharField(choices=[('confirm', 'Confirm'), ('reject', 'Reject'), ('cancel', 'Cancel')], max_length=8)),
                ('at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('door', models.CharField(max_length=12)),
                ('address', models.CharField(blank=True, default='', max_length=64)),
                ('reason_code', models.CharField(blank=True, default='', max_length=24)),
                ('reason', models.TextField(blank=True, default='')),
                ('evidence', models.TextField(blank=True, default='')),
                ('seconds_shown', models.PositiveIntegerField(null=True)),
                ('shown_hash', models.CharField(max_length=64)),
                ('member', ledger.tenancy.TenantForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.membership')),
                ('tenant', models.ForeignKey(default=ledger.tenancy.tenant_in_scope, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.company')),
                ('action', ledger.tenancy.TenantForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='assistant.pendingaction')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('action', 'slot'), name='decision_slot'), models.UniqueConstraint(condition=models.Q(('verdict', 'confirm')), fields=('action', 'member'), name='decision_two_people'), models.CheckConstraint(condition=models.Q(('slot__in', [1, 2, 3])), name='decision_slots'), models.CheckConstraint(condition=models.Q(('verdict__in', ['confirm', 'reject', 'cancel'])), name='decision_verdict'), ledger.tenancy.TenantPolicy(column='tenant_id', name='decision_tenant'), models.UniqueConstraint(fields=('tenant', 'id'), name='decision_tenant_id'), ledger.tenancy.CompositeKey(field='action', name='decision_action_same_tenant', to='assistant_pendingaction'), ledger.tenancy.CompositeKey(field='member', name='decision_member_same_tenant', to='ledger_membership')],
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.UUIDField(default=ledger.tenancy.new_id, editable=False, primary_key=True, serialize=False)),
                ('token', models.UUIDField()),
                ('worker', models.CharField(max_length=120)),
                ('claimed_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('lease_until', models.DateTimeField()),
                ('called_at', models.DateTimeField(null=True)),
                ('reserved', models.JSONField(default=dict)),
                ('finished_at', models.DateTimeField(null=True)),
                ('outcome', models.CharField(blank=True, default='', max_length=16)),
                ('detail', models.JSONField(default=dict)),
                ('tenant', models.ForeignKey(default=ledger.tenancy.tenant_in_scope, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.company')),
                ('action', ledger.tenancy.TenantForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='attempts', to='assistant.pendingaction')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('action',), name='attempt_once'), ledger.tenancy.TenantPolicy(column='tenant_id', name='attempt_tenant'), models.UniqueConstraint(fields=('tenant', 'id'), name='attempt_tenant_id'), ledger.tenancy.CompositeKey(field='action', name='attempt_action_same_tenant', to='assistant_pendingaction')],
            },
        ),
        migrations.CreateModel(
            name='Alert',
            fields=[
                ('id', models.UUIDField(default=ledger.tenancy.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=32)),
                ('raised_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('handled_at', models.DateTimeField(null=True)),
                ('note', models.TextField(blank=True, default='')),
                ('handled_by', ledger.tenancy.TenantForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.membership')),
                ('tenant', models.ForeignKey(default=ledger.tenancy.tenant_in_scope, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.company')),
                ('action', ledger.tenancy.TenantForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='alerts', to='assistant.pendingaction')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('handled_at', None)), fields=('action', 'kind'), name='alert_one_open_of_a_kind'), ledger.tenancy.TenantPolicy(column='tenant_id', name='alert_tenant'), models.UniqueConstraint(fields=('tenant', 'id'), name='alert_tenant_id'), ledger.tenancy.CompositeKey(field='action', name='alert_action_same_tenant', to='assistant_pendingaction'), ledger.tenancy.CompositeKey(field='handled_by', name='alert_handled_by_same_tenant', to='ledger_membership')],
            },
        ),
        migrations.CreateModel(
            name='Seen',
            fields=[
                ('id', models.UUIDField(default=ledger.tenancy.new_id, editable=False, primary_key=True, serialize=False)),
                ('door', models.CharField(max_length=12)),
                ('at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('action', ledger.tenancy.TenantForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='views', to='assistant.pendingaction')),
                ('member', ledger.tenancy.TenantForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.membership')),
                ('tenant', models.ForeignKey(default=ledger.tenancy.tenant_in_scope, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.company')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('action', 'member', 'door'), name='seen_once'), ledger.tenancy.TenantPolicy(column='tenant_id', name='seen_tenant'), models.UniqueConstraint(fields=('tenant', 'id'), name='seen_tenant_id'), ledger.tenancy.CompositeKey(field='action', name='seen_action_same_tenant', to='assistant_pendingaction'), ledger.tenancy.CompositeKey(field='member', name='seen_member_same_tenant', to='ledger_membership')],
            },
        ),
        migrations.CreateModel(
            name='ToolCall',
            fields=[
                ('id', models.UUIDField(default=ledger.tenancy.new_id, editable=False, primary_key=True, serialize=False)),
                ('index', models.PositiveSmallIntegerField()),
                ('call_id', models.CharField(max_length=128)),
                ('name', models.CharField(max_length=128)),
                ('arguments', models.TextField(default='{}')),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('proposed', 'Proposed'), ('skipped', 'Skipped')], default='queued', max_length=10)),
                ('result', models.TextField(blank=True, default='')),
                ('touched', models.JSONField(default=list)),
                ('seq', models.PositiveBigIntegerField(default=0)),
                ('started_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('action', ledger.tenancy.TenantForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='tool_calls', to='assistant.pendingaction')),
                ('message', ledger.tenancy.TenantForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tool_calls', to='assistant.message')),
                ('tenant', models.ForeignKey(default=ledger.tenancy.tenant_in_scope, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.company')),
                ('turn', ledger.tenancy.TenantForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tool_calls', to='assistant.turn')),
            ],
            options={
                'ordering': ('message', 'index'),
                'indexes': [models.Index(fields=['turn', 'seq'], name='toolcall_seq')],
                'constraints': [models.UniqueConstraint(fields=('message', 'index'), name='toolcall_index'), models.UniqueConstraint(fields=('turn', 'call_id'), name='toolcall_call_id'), ledger.tenancy.TenantPolicy(column='tenant_id', name='toolcall_tenant'), models.UniqueConstraint(fields=('tenant', 'id'), name='toolcall_tenant_id'), ledger.tenancy.CompositeKey(field='turn', name='toolcall_turn_same_tenant', to='assistant_turn'), ledger.tenancy.CompositeKey(field='message', name='toolcall_message_same_tenant', to='assistant_message'), ledger.tenancy.CompositeKey(field='action', name='toolcall_action_same_tenant', to='assistant_pendingaction')],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='decision',
            trigger=pgtrigger.compiler.Trigger(name='no_change', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='ee6d3a3317953573f74e04258559c42820d8a6d4', operation='UPDATE OR DELETE', pgid='pgtrigger_no_change_43325', table='assistant_decision', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='decision',
            trigger=pgtrigger.compiler.Trigger(name='no_truncate', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate rows from % table', TG_TABLE_NAME;", hash='dd6f749dc9334ecad9e9b9679a6a20176a764c15', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_no_truncate_eb211', table='assistant_decision', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='attempt',
            trigger=pgtrigger.compiler.Trigger(name='frozen', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."tenant_id" IS DISTINCT FROM (NEW."tenant_id") OR OLD."action_id" IS DISTINCT FROM (NEW."action_id") OR OLD."token" IS DISTINCT FROM (NEW."token") OR OLD."worker" IS DISTINCT FROM (NEW."worker") OR OLD."claimed_at" IS DISTINCT FROM (NEW."claimed_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='82c406fa12ea98b25a104dc4ec33a34d8f4d746d', operation='UPDATE', pgid='pgtrigger_frozen_a2d17', table='assistant_attempt', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='attempt',
            trigger=pgtrigger.compiler.Trigger(name='no_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='e1d80655ed02cbb5af8c03418adcbff75180975e', operation='DELETE', pgid='pgtrigger_no_delete_239ba', table='assistant_attempt', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='attempt',
            trigger=pgtrigger.compiler.Trigger(name='no_truncate', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate rows from % table', TG_TABLE_NAME;", hash='0fb17b5048a86a5fc24651fc3d78c963bbb1bc0d', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_no_truncate_2bcf8', table='assistant_attempt', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='pendingaction',
            trigger=pgtrigger.compiler.Trigger(name='frozen', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."tenant_id" IS DISTINCT FROM (NEW."tenant_id") OR OLD."conversation_id" IS DISTINCT FROM (NEW."conversation_id") OR OLD."turn_id" IS DISTINCT FROM (NEW."turn_id") OR OLD."call_id" IS DISTINCT FROM (NEW."call_id") OR OLD."requester_id" IS DISTINCT FROM (NEW."requester_id") OR OLD."epoch" IS DISTINCT FROM (NEW."epoch") OR OLD."routed" IS DISTINCT FROM (NEW."routed") OR OLD."approvals" IS DISTINCT FROM (NEW."approvals") OR OLD."door" IS DISTINCT FROM (NEW."door") OR OLD."tool" IS DISTINCT FROM (NEW."tool") OR OLD."tool_version" IS DISTINCT FROM (NEW."tool_version") OR OLD."level" IS DISTINCT FROM (NEW."level") OR OLD."effects" IS DISTINCT FROM (NEW."effects") OR OLD."operation" IS DISTINCT FROM (NEW."operation") OR OLD."outside" IS DISTINCT FROM (NEW."outside") OR OLD."arguments" IS DISTINCT FROM (NEW."arguments") OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."language" IS DISTINCT FROM (NEW."language") OR OLD."payload_text" IS DISTINCT FROM (NEW."payload_text") OR OLD."payload" IS DISTINCT FROM (NEW."payload") OR OLD."preview_text" IS DISTINCT FROM (NEW."preview_text") OR OLD."preview" IS DISTINCT FROM (NEW."preview") OR OLD."summary" IS DISTINCT FROM (NEW."summary") OR OLD."targets" IS DISTINCT FROM (NEW."targets") OR OLD."digest" IS DISTINCT FROM (NEW."digest") OR OLD."sameness" IS DISTINCT FROM (NEW."sameness") OR OLD."undo_seconds" IS DISTINCT FROM (NEW."undo_seconds") OR OLD."compensation" IS DISTINCT FROM (NEW."compensation") OR OLD."edited_from_id" IS DISTINCT FROM (NEW."edited_from_id") OR OLD."compensates_id" IS DISTINCT FROM (NEW."compensates_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='13d65f5c30448bc16b606e0af2cd1957e3b11e0c', operation='UPDATE', pgid='pgtrigger_frozen_a3d77', table='assistant_pendingaction', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='pendingaction',
            trigger=pgtrigger.compiler.Trigger(name='state_table', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE _is_valid_transition BOOLEAN;', func='SELECT CONCAT(OLD."status", \':\', NEW."status") = ANY(\'{pending:awaiting_second,pending:scheduled,pending:rejected,pending:cancelled,pending:expired,pending:superseded,awaiting_second:scheduled,awaiting_second:rejected,awaiting_second:cancelled,awaiting_second:expired,awaiting_second:superseded,scheduled:executing,scheduled:cancelled,executing:executed,executing:failed,executing:in_doubt,in_doubt:executed,in_doubt:failed}\'::text[]) INTO _is_valid_transition; IF (_is_valid_transition IS FALSE AND OLD."status" IS DISTINCT FROM NEW."status") THEN RAISE EXCEPTION \'pgtrigger: Invalid transition of field "status" from "%" to "%" on table %\', OLD."status", NEW."status", TG_TABLE_NAME; ELSE RETURN NEW; END IF;', hash='de9271bd5dc2ec3da150141c7f82b9916de4520d', operation='UPDATE', pgid='pgtrigger_state_table_ed214', table='assistant_pendingaction', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='pendingaction',
            trigger=pgtrigger.compiler.Trigger(name='starts_pending', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (NEW.status <> 'pending')", func="RAISE EXCEPTION 'an action starts as pending';", hash='f3b727a843241dbe49dd7fa5780a33d09a1a5604', operation='INSERT', pgid='pgtrigger_starts_pending_806e5', table='assistant_pendingaction', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='pendingaction',
            trigger=pgtrigger.compiler.Trigger(name='proof', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (NEW.status <> OLD.status)', constraint='CONSTRAINT', func="\n    IF NEW.status = 'scheduled' AND NOT EXISTS (\n        SELECT FROM assistant_decision d\n         WHERE d.action_id = NEW.id AND d.verdict = 'confirm' AND d.shown_hash = NEW.digest)\n    THEN RAISE EXCEPTION 'action % was scheduled without a recorded decision', NEW.id; END IF;\n    IF NEW.status IN ('executing', 'executed', 'in_doubt') AND NOT EXISTS (\n        SELECT FROM assistant_attempt a WHERE a.action_id = NEW.id)\n    THEN RAISE EXCEPTION 'action % runs without a claimed attempt', NEW.id; END IF;\n    IF NEW.status = 'executed' AND NEW.receipt IS NULL\n    THEN RAISE EXCEPTION 'action % is executed without a receipt', NEW.id; END IF;\n    RETURN NULL;\n", hash='cd000141c5e70800543712dc964d71f243635e60', operation='UPDATE', pgid='pgtrigger_proof_06c2e', table='assistant_pendingaction', timing='DEFERRABLE INITIALLY DEFERRED', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='pendingaction',
            trigger=pgtrigger.compiler.Trigger(name='no_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='ece57d54586a54215a88e2eb99cda1b254c0b107', operation='DELETE', pgid='pgtrigger_no_delete_0b3f5', table='assistant_pendingaction', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='pendingaction',
            trigger=pgtrigger.compiler.Trigger(name='no_truncate', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate rows from % table', TG_TABLE_NAME;", hash='848577ab8b611dc3c23c8a0984aafb592291e7b0', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_no_truncate_b4640', table='assistant_pendingaction', when='BEFORE')),
        ),
    ]
