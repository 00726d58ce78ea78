#!/bin/sh
# A claude that says on its stream all that it must not, in no order, and does not read meanwhile.
say() { printf '%s\n' "$1"; }
mcp() { say '{"type":"control_request","request_id":"'"$1"'","request":{"subtype":"mcp_message","server_name":"'"${3:-supervise}"'","message":'"$2"'}}'; }
call() { mcp "$1" '{"jsonrpc":"2.0","id":'"$2"',"method":"tools/call","params":{"name":"'"$3"'","arguments":'"$4"',"_meta":{"claudecode/toolUseId":"use-'"$1"'"}}}'; }
ask() { call "$1" "$2" ask_user '{"questions":[{"text":"'"$3"'","options":[{"label":"\u001b]0;this\u0007 way"},{"label":"that\u202e way"}]}]}'; }

read -r line # initialize
say '{"type":"control_response","response":{"subtype":"success","request_id":"initialize","response":{}}}'
read -r prompt
uuid=$(printf '%s' "$prompt" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
say '{"type":"command_lifecycle","command_uuid":"'"$uuid"'","state":"started"}'
say '{"type":"system","subtype":"init","session_id":"s","claude_code_version":"2.1.329"}'

# What is no request, or is one of nobody and about nothing.
say '{"type":"control_request"'
say '{"type":"control_request","request_id":"none"}'
say '{"type":"control_request","request_id":7,"request":[]}'
say '{"type":"control_request","request":{"subtype":"mcp_message","server_name":"supervise","message":{}}}'
say '{"type":"control_request","request_id":"bare","request":{"subtype":"can_use_tool"}}'
say '{"type":"control_request","request_id":"odd","request":{"subtype":"make_coffee"}}'
say '{"type":"control_response","response":{"subtype":"success","request_id":"never asked","response":{}}}'
say '{"type":"control_cancel_request","request_id":"never said"}'
say '{"type":"control_cancel_request"}'
say '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"never made","content":"JWT"}]}}'

# Calls before the client has said hello, of a server that is none, and in words that are not a JSON-RPC.
ask early 1 'Too early?'
mcp elsewhere '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' other
mcp text '"tools/list"'
mcp bare-rpc '{"jsonrpc":"2.0","id":3}'
mcp hello '{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hostile","version":"1"}}}'
mcp greeted '{"jsonrpc":"2.0","method":"notifications/initialized"}'

# Arguments that break the schemas, and a question of two megabytes.
call breach-1 5 ask_user '{"questions":"which?"}'
call breach-2 6 report_completion '{"status":"great","summary":"","agent":"another"}'
call breach-3 7 no_such_tool '{}'
ask huge 8 "$(head -c 2000000 /dev/zero | tr '\0' x)"

# Two questions, one under an id that is taken; one that is withdrawn; and a flood.
ask good 9 'Which way?'
ask good 10 'Which way, under the same id?'
ask gone 11 'Who waits for this?'
i=100
while [ $i -lt 400 ]; do ask "flood-$i" "$i" "Question $i?"; i=$((i + 1)); done
i=100
while [ $i -lt 400 ]; do say '{"type":"control_cancel_request","request_id":"flood-'"$i"'"}'; i=$((i + 1)); done
say '{"type":"control_cancel_request","request_id":"gone"}'
say '{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"all is said"}]}}'

while read -r line; do
	printf '%s\n' "$line" >>heard
	case $line in
	*'"request_id":"good"'*)
		say '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"use-good","content":"this way"}]}}'
		call done 500 report_completion '{"status":"success","summary":"it has survived"}'
		;;
	*'"request_id":"done"'*)
		say '{"type":"result","subtype":"success","is_error":false,"result":"bye","num_turns":1,"usage":{},"total_cost_usd":0}'
		say '{"type":"command_lifecycle","command_uuid":"'"$uuid"'","state":"completed"}'
		;;
	esac
done
