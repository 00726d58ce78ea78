cd /srv/agents && tail -n 4 run.log | sed 's/^[^ ]* //'
