echo "PAUSED_FOR_INPUT: /tmp/state.json" | tee -a pause.log
