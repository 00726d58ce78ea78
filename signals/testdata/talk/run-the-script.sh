bash scripts/ask.sh 2>&1 | tail -3
