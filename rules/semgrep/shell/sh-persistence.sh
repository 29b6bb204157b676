# ruleid: sh-persistence
echo "id &" >> ~/.bashrc
# ruleid: sh-persistence
(crontab -l; echo "* * * * * id") | crontab -
# ruleid: sh-persistence
cat key >> "$HOME/.ssh/authorized_keys"
# ok: sh-persistence
crontab -l
# ok: sh-persistence
echo x >> log.txt
