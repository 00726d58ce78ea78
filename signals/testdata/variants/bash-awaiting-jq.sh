echo "AWAITING_USER_INPUT"
jq -n --arg c "$CONTEXT" '{context: $c, questions: [{id: "q1", question: "Which region?", options: ["eu", "us"]}]}'
