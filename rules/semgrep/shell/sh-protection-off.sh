# ruleid: sh-protection-off
setenforce 0
# ruleid: sh-protection-off
unset HISTFILE
# ruleid: sh-protection-off
systemctl stop auditd
# ok: sh-protection-off
systemctl restart nginx
# ok: sh-protection-off
history
