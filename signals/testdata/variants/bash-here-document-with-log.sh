cd /srv/app && npm test > test.log 2>&1; STATUS=$?
if [ $STATUS -ne 0 ]; then
cat <<EOF
[STOP_WORK]
agent_id: $ID
stop_reason: error
blocker_type: error
details: |
$(tail -n 2 test.log | sed 's/^/  /')
[/STOP_WORK]
EOF
fi
