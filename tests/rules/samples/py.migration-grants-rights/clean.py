from django.db import migrations, models


def tidy(apps, schema_editor):
    users = apps.get_model("members", "User")
    users.objects.filter(is_staff=True, last_login=None).update(is_staff=False)
    users.objects.filter(is_superuser=True).update(wants_mail=True)
    for user in users.objects.all():
        user.role = "member"
        user.is_active = True
        user.save()


class Migration(migrations.Migration):
    dependencies = [("members", "0001_initial")]
    operations = [
        migrations.AddField("user", "is_admin", models.BooleanField(default=False)),
        migrations.RunPython(tidy, migrations.RunPython.noop),
        migrations.RunSQL("UPDATE users SET notes = '' WHERE is_admin = 1"),
    ]
