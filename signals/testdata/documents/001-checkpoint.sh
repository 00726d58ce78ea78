# Determine memory path
PROJECT_ROOT=$(git rev-parse --show-toplevel 2>/dev/null || pwd)
MEMORY_PATH="$HOME/.claude/projects/$(basename "$PROJECT_ROOT")/memory"
mkdir -p "$MEMORY_PATH/checkpoints"

# Create checkpoint file
TIMESTAMP=$(date -u +"%Y-%m-%dT%H:%M:%SZ")
STATE_FILE="$MEMORY_PATH/checkpoints/mutation-agent-${TIMESTAMP}.md"

cat > "$STATE_FILE" << 'EOF'
# mutation-agent Checkpoint

**Timestamp:** 2026-02-04T10:30:00Z
**Task:** Mutation testing for auth module
**Agent:** mutation-agent

## Progress Summary

Testing complete, 97% mutation score achieved.

## Files Analyzed

- src/auth.rs
- tests/auth_test.rs

## Next Step

Handle 3 surviving mutants - need user decision on approach.

## Pending Decision

Should I create individual fix tasks for each surviving mutant or just report?

## Context for Continuation

Three specific mutants survived:
1. Line 45: Boundary condition in token expiry
2. Line 78: Error message text change (no behavior impact)
3. Line 103: Default timeout value change
EOF
