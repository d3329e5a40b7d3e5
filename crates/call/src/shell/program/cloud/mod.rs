//! Clouds, infrastructure as code, deployment services.

mod effects;

use super::row::{Row, Rule, Say, Sub, quiet, row, sub, subs};
use crate::action::{DestroyClass, Flow};
use effects::{apply, cloud, deployer};

const LOST: Rule = Rule::Always(Say::Destroy(DestroyClass::Infrastructure, "infrastructure"));
const ASKS: Rule = Rule::Always(Say::Service("cloud", Flow::Fetch));
const TELLS: Rule = Rule::Always(Say::Service("cloud", Flow::Send));
const SHIPS: Rule = Rule::Always(Say::Deploy("a change of what runs in the cloud"));

pub(super) const ROWS: &[Row] = &[
    subs(
        &["terraform", "tofu", "terragrunt"],
        "-chdir",
        TERRAFORM,
        "terraform plan",
        "terraform destroy -auto-approve",
    )
    .dashed(),
    subs(
        &["pulumi"],
        "-s --stack -C --cwd",
        &[
            quiet(
                ",version,help,whoami,about,stack ls,stack output,config get,plugin ls,logs,--version,schema,convert",
            ),
            sub(
                "preview,refresh-preview,stack,stack select,stack init,new,config,import-preview,install",
                "",
                &[ASKS, Rule::Always(Say::Project)],
            ),
            sub("up,update,refresh,import,watch,stack import,config set,cancel,login,logout", "", &[TELLS, SHIPS]),
            sub("destroy,stack rm,state delete,state rename,state unprotect", "", &[TELLS, LOST]),
        ],
        "pulumi preview",
        "pulumi destroy --yes",
    ),
    row(
        &[
            "ansible",
            "ansible-playbook",
            "ansible-pull",
            "ansible-console",
            "salt",
            "salt-call",
            "salt-ssh",
            "puppet",
            "chef-client",
            "knife",
            "fab",
            "mina",
            "pyinfra",
            "nomad",
            "consul",
            "waypoint",
            "boundary",
            "juju",
            "cf",
            "bosh",
            "cdk",
            "cdktf",
            "sam",
            "serverless",
            "sls",
            "sst",
            "eb",
            "amplify",
            "chalice",
            "zappa",
            "up",
            "arc",
            "nixops",
            "colmena",
            "crossplane",
            "infracost",
            "terraformer",
            "atlantis",
            "spacectl",
        ],
        "-i --inventory -e --extra-vars -l --limit -t --tags -u --user -m -a --stage -s --region -r --profile --stack-name --template-file --config",
        &[Rule::Code(deployer)],
        "cdk diff",
        "ansible-playbook site.yml",
    ),
    row(
        &[
            "ansible-lint",
            "ansible-doc",
            "ansible-inventory",
            "ansible-config",
            "ansible-galaxy",
            "ansible-vault",
            "cfn-lint",
            "tfsec",
            "terrascan",
            "steampipe",
            "cloud-nuke",
            "aws-nuke",
        ],
        "-i --inventory -p --roles-path",
        &[Rule::Code(|it| match it.name {
            "cloud-nuke" | "aws-nuke" => it.destroy(DestroyClass::Infrastructure, "a whole account"),
            "ansible-galaxy" => {
                it.say(Say::Install(crate::action::InstallScope::Project, crate::action::InstallSource::Registry))
            }
            "ansible-vault" => it.say(Say::Privilege("stored secrets")),
            _ => it.say(Say::Project),
        })],
        "ansible-lint .",
        "aws-nuke run",
    ),
    row(
        &[
            "aws",
            "awslocal",
            "aliyun",
            "tccli",
            "oci",
            "ibmcloud",
            "yc",
            "scw",
            "hcloud",
            "exo",
            "vultr-cli",
            "linode-cli",
            "doctl",
            "openstack",
            "nova",
            "az",
            "gcloud",
            "bq",
            "cbt",
            "firebase",
            "supabase",
            "flyctl",
            "fly",
            "heroku",
            "vercel",
            "vc",
            "netlify",
            "ntl",
            "railway",
            "render",
            "wrangler",
            "surge",
            "now",
            "gh-pages",
            "nf",
            "convex",
            "turso",
            "pscale",
            "planetscale",
            "neonctl",
            "neon",
            "upstash",
            "stripe",
            "twilio",
            "slack",
            "sentry-cli",
            "datadog-ci",
            "newrelic",
            "auth0",
            "okta",
            "eas",
            "expo-cli",
            "code-push",
            "appcenter",
            "vsce",
            "ovsx",
            "zeit",
            "deployctl",
            "porter",
            "kamal",
            "dokku",
            "caprover",
            "coolify",
            "linear",
            "jira",
            "trello",
            "notion",
            "todoist",
            "hub-tool",
            "travis",
            "circleci",
            "buildkite-agent",
            "jenkins-cli",
            "drone",
            "woodpecker-cli",
        ],
        "--profile --region --output -o --query --endpoint-url --project --zone -p -a --app -r --remote --resource-group -g --subscription -n --name --format --filter -c --config -t --token -e --env --environment -m --message --body --file -f --from-file --site --dir -d --org --team --scope -S --account --db --branch",
        &[Rule::Code(cloud)],
        "aws s3 ls",
        "aws s3 rb s3://x --force",
    ),
];

impl Row {
    /// The same row with flags of one dash and whole words.
    const fn dashed(mut self) -> Self {
        self.style = super::row::Style::Words;
        self
    }
}

const TERRAFORM: &[Sub] = &[
    quiet(
        ",version,help,fmt,validate,graph,providers,output,show,console,workspace list,workspace show,state list,state show,metadata,-version,--version,hclfmt",
    ),
    sub(
        "plan,get,init,workspace select,workspace new,refresh-plan,test,modules,render-json,plan-all,providers lock,providers mirror",
        "-out -var -var-file -target -backend-config -state -lock-timeout -parallelism",
        &[
            ASKS,
            Rule::Always(Say::Project),
            Rule::WriteFlag("-out"),
            Rule::ReadFlag("-var-file"),
            Rule::Code(|it| {
                if it.has("-destroy") {
                    it.say(Say::Project)
                }
            }),
        ],
    ),
    sub(
        "apply,import,refresh,apply-all,run-all,run,state mv,state push,state replace-provider,taint,untaint,force-unlock,login,logout",
        "-var -var-file -target -state -parallelism -replace",
        &[TELLS, Rule::ReadFlag("-var-file"), Rule::Code(apply)],
    ),
    sub("destroy,destroy-all,workspace delete,state rm", "-var -var-file -target", &[TELLS, LOST]),
    sub("state pull", "", &[ASKS, Rule::Always(Say::Privilege("secrets in the state"))]),
];
