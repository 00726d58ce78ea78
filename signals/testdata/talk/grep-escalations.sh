grep -h QUESTION_ESCALATED logs/*.txt
