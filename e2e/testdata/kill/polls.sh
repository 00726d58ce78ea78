# Asks by a question file and waits for its answer file, as the scripts of the hybrid document do. Each process leaves what a
# prompt has told it in told.N, and what it has got by file in taken/: both files go there in one command. Killed between the
# two it has its answer and asks still, which the tests allow for.
id=login-$CLAUDE_SUPERVISE_AGENT
question=$HOME/.claude/questions/pending/$id.json
answer=$HOME/.claude/answers/$id.txt
if [ -n "$CLAUDE_SUPERVISE_ANSWER" ]; then
	echo "$CLAUDE_SUPERVISE_ANSWER" > "told.$CLAUDE_SUPERVISE_LAUNCH"
elif [ ! -e "taken/$id.txt" ]; then
	mkdir -p taken
	echo '{"question": "Which auth method?", "options": ["oauth", "jwt"]}' > question.new
	mv question.new "$question"
	echo "Waiting for $answer"
	patience=6000 # ten minutes: the machine may be busy
	until [ -e "$answer" ]; do
		[ $((patience -= 1)) -gt 0 ] || exit 1
		sleep 0.1
	done
	mv "$answer" "$question" taken/
fi
echo WORKFLOW_COMPLETE
