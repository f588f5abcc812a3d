//! Text that cannot fool a terminal.
