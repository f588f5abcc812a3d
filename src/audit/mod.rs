//! Writing the decision down, before anything runs.
