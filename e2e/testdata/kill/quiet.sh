# polls.sh, of which nothing is heard but its end: only its process says whose question it is.
bash "$(dirname "$0")/polls.sh" > /dev/null && echo WORKFLOW_COMPLETE
