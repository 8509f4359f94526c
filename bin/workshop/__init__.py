"""What the scripts in bin/ do: setting up, running, checking. Nothing of the product imports it."""
