# polls.sh, that goes on without its terminal.
trap '' HUP
. "$(dirname "$0")/polls.sh"
