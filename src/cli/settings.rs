//! What to set so that an agent starts the shims: one snippet per agent, from `install/`.

use std::fmt::Write as _;
use std::path::Path;

/// Stands for the shims' folder in a snippet.
const SHIMS: &str = "@SHIMS@";

/// A setting of one agent.
struct Setting {
    /// The agent.
    agent: &'static str,
    /// Where the snippet goes.
    into: &'static str,
    /// The snippet.
    snippet: &'static str,
}

/// The environment that reaches most agents.
const ENVIRONMENT: &str = include_str!("../../install/environment");

/// Agents that have a setting of their own.
const SETTINGS: &[Setting] = &[
    Setting {
        agent: "Claude Code",
        into: "~/.claude/settings.json",
        snippet: include_str!("../../install/claude-code.json"),
    },
    Setting {
        agent: "opencode, Kilo CLI",
        into: "~/.config/opencode/opencode.json",
        snippet: include_str!("../../install/opencode.json"),
    },
    Setting { agent: "pi", into: "~/.pi/agent/settings.json", snippet: include_str!("../../install/pi.json") },
    Setting { agent: "Roo Code, VS Code", into: "settings.json", snippet: include_str!("../../install/vscode.json") },
    Setting { agent: "Zed", into: "~/.config/zed/settings.json", snippet: include_str!("../../install/zed.json") },
    Setting { agent: "npm run", into: "~/.npmrc", snippet: include_str!("../../install/npmrc") },
    Setting { agent: "tmux", into: "~/.tmux.conf", snippet: include_str!("../../install/tmux.conf") },
];

/// All settings for shims in this folder.
pub(super) fn text(shims: &Path) -> String {
    let shims = shims.display().to_string();
    let indented = |snippet: &str| {
        let lines = snippet.trim_end().lines().map(|line| format!("  {line}\n"));
        lines.collect::<String>().replace(SHIMS, &shims)
    };
    let mut text = format!("In the shell from which you start an agent:\n{}", indented(ENVIRONMENT));
    for Setting { agent, into, snippet } in SETTINGS {
        let _ = write!(text, "{agent}, in {into}:\n{}", indented(snippet));
    }
    text.push_str("Codex takes the login shell of the user database; docs/agents.md says what that means.\n");
    text
}
