from django.db import migrations


def mark(apps, schema_editor):
    users = apps.get_model("members", "User")
    users.objects.filter(profile__headline__icontains="moderator").update(is_staff=True)  # HIT
    for user in users.objects.filter(email__endswith="@shop.example"):
        user.is_superuser = True  # HIT
        user.role = "admin"  # HIT
        user.save()
    users.objects.create_superuser("kim", "kim@shop.example", "x")  # HIT


class Migration(migrations.Migration):
    dependencies = [("members", "0001_initial")]
    operations = [
        migrations.RunPython(mark, migrations.RunPython.noop),
        migrations.RunSQL("UPDATE users SET is_admin = 1 WHERE name LIKE 'mod%'"),  # HIT
        migrations.RunSQL("UPDATE u SET seen = 1 WHERE id = 2; UPDATE admin SET admin = true"),  # HIT
    ]
