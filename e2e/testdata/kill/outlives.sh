# polls.sh, that continues without its terminal.
trap '' HUP
. "$(dirname "$0")/polls.sh"
