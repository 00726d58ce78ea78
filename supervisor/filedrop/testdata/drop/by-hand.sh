# User sees notification with file path
$ echo "oauth" > ~/.claude/answers/workflow_1729350000_q1.txt
