//! The subcommands of `vetsh`, one file each.
