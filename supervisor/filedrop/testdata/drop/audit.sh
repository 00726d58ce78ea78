cat >> ~/.claude/audit/questions.log <<EOF
$(date -Iseconds) | ${QUESTION_ID} | ${QUESTION} | ${ANSWER} | ${RESPONSE_TIME}s | ${PATH}
EOF
