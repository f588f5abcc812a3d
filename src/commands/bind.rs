//! Which operand has which role.

use super::schema::{OperandSpec, Repeat, Role};

/// The role of the operand at `index` when it is read, before the number of operands is known; only leading roles count.
pub(super) fn leading(specs: &[OperandSpec], index: usize) -> Option<Role> {
    let fixed = specs.iter().filter(|spec| spec.repeat != Repeat::Assignments);
    fixed.take_while(|spec| spec.repeat == Repeat::One).nth(index).map(|spec| spec.role)
}

/// Whether `NAME=value` words may stand before the operand at `index`.
pub(super) fn takes_assignments(specs: &[OperandSpec], index: usize) -> bool {
    let before = specs.iter().position(|spec| spec.repeat == Repeat::Assignments);
    before == Some(index)
}

/// The roles that the operand at `index` of `count` can have. From the first operand that may be many (`first_many`)
/// on, positions are known only from the end, and up to the last (`last_many`) only as a range.
pub(super) fn roles(specs: &[OperandSpec], index: usize, count: usize, many: Option<(usize, usize)>) -> Vec<Role> {
    let specs: Vec<_> = specs.iter().filter(|spec| spec.repeat != Repeat::Assignments).collect();
    let Some((first, last)) = many else { return role(&specs, index, count).into_iter().collect() };
    // An unknown stands for nothing, for one, or for more words than there are roles.
    let mut found = Vec::new();
    for extra in [0, 1, 2, specs.len() + 1] {
        let count = (count + extra).saturating_sub(1);
        let shift = extra.saturating_sub(1);
        let positions = match index {
            index if index < first => index..=index,
            index if index > last => (index + extra).saturating_sub(1)..=(index + extra).saturating_sub(1),
            index if extra == 0 && index == first => continue,
            index => index..=index + shift,
        };
        for role in positions.filter_map(|position| role(&specs, position, count)) {
            if !found.contains(&role) {
                found.push(role);
            }
        }
    }
    found
}

/// The role of one operand: fixed roles bind from both ends, the repeated one takes what is between; words beyond the
/// last role have that role.
fn role(specs: &[&OperandSpec], index: usize, count: usize) -> Option<Role> {
    let at = |index: usize| specs.get(index).map(|spec| spec.role);
    let Some(repeated) = specs.iter().position(|spec| spec.repeat == Repeat::Many) else {
        return at(index.min(specs.len().saturating_sub(1)));
    };
    let after = specs.len() - repeated - 1;
    if index < repeated {
        at(index)
    } else if index + after >= count {
        // With too few operands the roles after the repeated one fill from the front.
        at(specs.len() - (count - index).min(after).max(1).min(specs.len()))
    } else {
        at(repeated)
    }
}
