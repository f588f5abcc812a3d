//! Large clients: calls that look have no effect, others have the one that is named.

use bstr::BStr;
use vetsh::commands::Tables;
use vetsh::facts::Location;
use vetsh::facts::value::Argument;

/// A call, and the effects and doubts that its table declares.
const ROWS: &[(&str, &str)] = &[
    ("aws ec2 describe-instances --filters Name=a,Values=b", ""),
    ("aws --profile p --region r iam list-users", ""),
    ("aws ec2 terminate-instances --instance-ids i", "control"),
    ("aws route53 delete-traffic-policy --id a --version 1", "control"),
    ("aws ssm get-parameter --name n", ""),
    ("aws ssm get-parameter --name n --with-decryption", "read.secret"),
    ("aws secretsmanager get-secret-value --secret-id s", "read.secret"),
    ("aws configure get region", ""),
    ("aws configure get aws_secret_access_key", "read.secret"),
    ("aws s3 sync a s3://b --delete", "control"),
    ("aws s3 sync a s3://b --delete --dryrun", ""),
    ("aws s3 sync a s3://b --delete --dryrun=false", "control"),
    ("az storage blob list --container-name c", ""),
    ("az --query delete vm list", ""),
    ("az storage blob delete --name n", "control"),
    ("az redis list-keys -n r -g g", "read.secret"),
    ("az group delete --name g --yes --query show", "control"),
    ("gcloud --project p compute instances list", ""),
    ("gcloud beta compute instances describe i", ""),
    ("gcloud compute instances delete i", "control"),
    ("gcloud auth print-access-token", "read.secret"),
    ("kubectl get pods -A -o yaml", ""),
    ("kubectl get secret s -o yaml", "read.secret"),
    ("kubectl get secret/s -o jsonpath={.data}", "read.secret"),
    ("kubectl get secrets", ""),
    ("kubectl -n n delete pod p", "control"),
    ("kubectl delete pod p --dry-run=client", ""),
    ("kubectl delete pod p --dry-run=none", "control"),
    ("kubectl config view", ""),
    ("kubectl config view --raw", "read.secret"),
    ("kubectl config use-context c", "configure"),
    ("helm list -A", ""),
    ("helm install r c --version 1.2", "control"),
    ("helm install r c --version 1.2 --dry-run", ""),
    ("docker ps -a", ""),
    ("podman inspect c", ""),
    ("docker rm -f c", "control"),
    ("docker compose -f a.yml ps", ""),
    ("docker-compose ps", ""),
    ("docker-compose down -v", "control"),
    ("terraform -chdir=prod plan", ""),
    ("terraform workspace list", ""),
    ("terraform workspace delete w", "control"),
    ("terraform state rm a.b", "control"),
    ("gh pr list --limit 5", ""),
    ("gh -R o/r run view 1 --log-failed", ""),
    ("gh pr create --title t --body b", "publish"),
    ("gh api repos/o/r/pulls", ""),
    ("gh api -X DELETE repos/o/r", "control"),
    ("gh api repos/o/r/issues -f title=t", "control"),
    ("gh api graphql -f query={viewer{login}}", ""),
    ("gh auth status", ""),
    ("gh auth status --show-token", "read.secret"),
    ("heroku config -a a", "read.secret"),
    ("heroku apps:destroy a", "control"),
    ("vercel ls", ""),
    ("vercel --prod", "publish"),
    ("vault kv get secret/a", "read.secret"),
    ("redis-cli -h h GET k", ""),
    ("redis-cli FLUSHALL", "control"),
    ("pg_restore -l a.dump", ""),
    ("pg_restore -d db a.dump", "control"),
    ("rails db:migrate", "run.project"),
    ("rails db:drop", "run.project control"),
    ("sysctl -a", ""),
    ("sysctl -w kernel.panic=1", "configure"),
    ("hostname", ""),
    ("hostname h", "configure"),
    ("fdisk -l /dev/sda", ""),
    ("fdisk /dev/sda", "device"),
];

#[test]
fn looking_has_no_effect() {
    let wrong: Vec<_> = ROWS.iter().map(|(line, expected)| (*line, *expected, effects(line))).collect();
    let wrong: Vec<_> = wrong.into_iter().filter(|(_, expected, found)| expected != found).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn effects(line: &str) -> String {
    let words: Vec<_> = line.split(' ').map(|word| Argument::known(word, Location::default())).collect();
    let (program, arguments) = words.split_first().expect("a program");
    let tables = Tables::builtin();
    let table = tables.find(BStr::new(&*program.text().expect("a known program"))).expect("a table");
    let reading = table.read(arguments);
    let effects = reading.effects.iter().map(|declared| match declared.aspect {
        Some(aspect) => format!("{}.{}", declared.effect.word(), aspect.word()),
        None => declared.effect.word().to_owned(),
    });
    let doubts = reading.doubts.iter().map(|vague| format!("doubt:{}", vague.doubt.word()));
    effects.chain(doubts).collect::<Vec<_>>().join(" ")
}
