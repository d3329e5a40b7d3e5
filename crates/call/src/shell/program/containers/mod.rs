//! Containers and clusters.

mod cluster;
mod engine;

use super::row::{Row, Rule, Say, Sub, quiet, row, sub, subs};
use crate::action::{DestroyClass, Flow, ListenScope};
use cluster::{kube_change, kube_delete, kube_exec, kube_get, kube_global};
use engine::{build, copy, exec, host, images, machine, run};

const DAEMON: Rule = Rule::Always(Say::Service("container engine", Flow::Session));
const LOST: Rule = Rule::Always(Say::Destroy(DestroyClass::Container, "containers, images or volumes"));
const RUN: &str = "-v --volume -p --publish -e --env --env-file -w --workdir --name -u --user --network --net --mount --entrypoint -l --label --restart --cpus -m --memory --platform --pull --device --cap-add --cap-drop --security-opt --pid --ipc --uts --userns --tmpfs --ulimit --add-host -h --hostname --gpus --shm-size --volumes-from --log-driver --log-opt --dns --health-cmd --link --expose --cidfile --cgroupns --runtime --stop-signal --isolation --ip --mac-address --volume-driver --group-add --sysctl --annotation -f --file --profile";

pub(super) const ROWS: &[Row] = &[
    Row {
        always: &[Rule::Code(host)],
        ..subs(
            &["docker", "podman", "nerdctl", "finch"],
            "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey --connection --url",
            DOCKER,
            "docker ps -a",
            "docker run -v /:/host alpine",
        )
    },
    subs(
        &["docker-compose", "podman-compose"],
        "-f --file -p --project-name --env-file --profile --project-directory",
        COMPOSE,
        "docker-compose ps",
        "docker-compose down -v",
    ),
    row(
        &[
            "docker-machine",
            "minikube",
            "kind",
            "k3d",
            "k3s",
            "colima",
            "lima",
            "limactl",
            "vagrant",
            "multipass",
            "orb",
            "virsh",
            "qemu-system-x86_64",
            "VBoxManage",
            "vboxmanage",
            "lxc",
            "lxc-attach",
            "machinectl",
            "firecracker",
            "incus",
            "qemu-img",
            "packer",
            "distrobox",
            "toolbox",
        ],
        "-p --profile -n --name -d --driver",
        &[Rule::Code(machine)],
        "minikube status",
        "vagrant destroy -f",
    ),
    row(
        &[
            "buildah",
            "skopeo",
            "crane",
            "kaniko",
            "oras",
            "regctl",
            "dive",
            "ko",
            "buildctl",
            "img",
            "container-structure-test",
        ],
        "",
        &[Rule::Code(images)],
        "skopeo inspect x",
        "skopeo copy a b",
    ),
    Row {
        always: &[Rule::Code(kube_global)],
        ..subs(
            &["kubectl", "oc", "k", "kubecolor", "microk8s.kubectl"],
            "-n --namespace --context --kubeconfig --cluster --user --as --as-group -s --server --token --request-timeout --certificate-authority",
            KUBE,
            "kubectl get pods -A",
            "kubectl delete ns prod",
        )
    },
    subs(
        &["helm"],
        "-n --namespace --kube-context --kubeconfig",
        &[
            quiet(
                ",version,help,env,completion,plugin list,repo list,lint,template,show,inspect,dependency list,--version,verify",
            ),
            sub(
                "list,ls,status,get,history,search,pull,fetch,dependency update,dependency build,repo update,test",
                "--untar-dir -d --destination --version -o -n --namespace -f",
                &[Rule::Always(Say::Service("cluster", Flow::Fetch)), Rule::WriteFlag("-d --destination --untar-dir")],
            ),
            sub("create,package", "-d --destination", &[Rule::Always(Say::Project)]),
            sub(
                "install,upgrade,rollback",
                "-f --values --set --set-string --set-file --version -n --namespace --repo --timeout --post-renderer",
                &[
                    Rule::Code(|it| {
                        if it.has("--dry-run") {
                            it.say(Say::Service("cluster", Flow::Fetch))
                        } else {
                            it.say(Say::Deploy("a release of a chart"));
                            it.each_value("-f --values", |it, word| {
                                if !word.lead().contains("://") {
                                    it.read(word)
                                }
                            });
                        }
                    }),
                    Rule::If("--post-renderer", Say::Hidden("post renderer")),
                ],
            ),
            sub(
                "uninstall,delete,del,un",
                "-n --namespace",
                &[Rule::Always(Say::Destroy(DestroyClass::Infrastructure, "a release of a chart"))],
            ),
            sub("push,registry", "", &[Rule::Always(Say::Package("a chart"))]),
            sub(
                "repo add,repo remove,plugin install,plugin uninstall,plugin update",
                "",
                &[Rule::Always(Say::Configuration("helm repositories and plugins"))],
            ),
        ],
        "helm list",
        "helm uninstall x",
    ),
    subs(
        &[
            "kustomize",
            "kubeconform",
            "kubeval",
            "kube-linter",
            "stern",
            "kubectx",
            "kubens",
            "k9s",
            "kubeseal",
            "istioctl",
            "linkerd",
            "flux",
            "argocd",
            "velero",
            "eksctl",
            "kops",
            "kubeadm",
            "kubelet",
            "cilium",
            "tkn",
            "kn",
            "skupper",
            "talosctl",
            "cmctl",
            "okteto",
            "devspace",
        ],
        "-n --namespace -c --context -o --output",
        &[
            quiet(
                ",build,version,help,lint,diagnose,check,analyze,--version,get,list,logs,status,describe,app list,app get,app diff,config view,validate,info,proxy-status,top",
            ),
            sub(
                "delete,uninstall,reset,destroy,app delete,remove",
                "",
                &[Rule::Always(Say::Destroy(DestroyClass::Infrastructure, "something of a cluster"))],
            ),
            sub(
                "*",
                "",
                &[Rule::Code(|it| {
                    if matches!(
                        it.name,
                        "kubeconform" | "kubeval" | "kube-linter" | "stern" | "kubectx" | "kubens" | "k9s" | "kubeseal"
                    ) {
                        it.say(Say::Service("cluster", Flow::Fetch))
                    } else {
                        it.say(Say::Deploy("a change of a cluster"))
                    }
                })],
            ),
        ],
        "kustomize build .",
        "argocd app delete x",
    ),
];

const DOCKER: &[Sub] = &[
    quiet(",version,--version,help,completion"),
    sub(
        "ps,images,logs,inspect,info,top,stats,port,diff,history,search,events,version,container ls,container list,container ps,container inspect,container logs,container top,container stats,container port,container diff,image ls,image list,image inspect,image history,volume ls,volume inspect,network ls,network inspect,system df,system info,system events,context ls,context show,context inspect,buildx ls,buildx inspect,buildx du,buildx version,compose ls,compose ps,compose logs,compose config,compose top,compose images,compose version,compose port,compose events,compose convert,stack ls,stack ps,stack services,service ls,service ps,service logs,service inspect,node ls,node inspect,secret ls,config ls,manifest inspect,plugin ls,scout,scan,container wait,wait,builder du,machine list,machine ls,pod ps,pod list,healthcheck,trust inspect,swarm ca,generate,system connection list,image tree,compose stats,compose volumes,swarm join-token,swarm unlock-key",
        "-f --filter --format -n --last --tail --since --until -p --project-name --file -t --type --env-file --profile",
        &[DAEMON],
    ),
    sub(
        "start,stop,restart,pause,unpause,attach,create-network,rename,update,container start,container stop,container restart,container pause,container unpause,container attach,container rename,container update,network create,network connect,network disconnect,volume create,tag,image tag,commit,container commit,compose start,compose stop,compose restart,compose pause,compose unpause,compose create,compose pull,compose build,compose watch,compose wait,compose scale,compose attach,pull,image pull,build,image build,buildx build,builder build,buildx create,buildx use,buildx bake,machine start,machine stop,pod start,pod stop,compose publish-local,init,buildx imagetools inspect,load,image load,import,image import,context create,context use,context update,context export,context import,swarm leave",
        "-f --file -t --tag --build-arg --target --platform -o --output --progress --secret --ssh --cache-from --cache-to -m --message -a --author -c --change -i --input --driver --subnet --name --label --network --time --context --builder -p --project-name --env-file --profile",
        &[DAEMON, Rule::Always(Say::Project), Rule::Code(build)],
    ),
    sub("save,image save,export,container export", "-o --output", &[DAEMON, Rule::WriteFlag("-o --output")]),
    sub("cp,container cp,compose cp", "", &[DAEMON, Rule::Code(copy)]),
    sub("run,create,container run,container create,compose run", RUN, &[DAEMON, Rule::Code(run)]),
    sub(
        "exec,container exec,compose exec",
        "-e --env --env-file -u --user -w --workdir --detach-keys --index -f --file -p --project-name",
        &[DAEMON, Rule::Code(exec)],
    ),
    sub(
        "compose up",
        "-f --file -p --project-name --scale --env-file --profile --timeout -t --pull",
        &[DAEMON, Rule::Always(Say::Project)],
    ),
    sub(
        "compose down",
        "-f --file -p --project-name --rmi --timeout -t",
        &[
            DAEMON,
            Rule::Always(Say::Project),
            Rule::If("-v --volumes --rmi", Say::Destroy(DestroyClass::Container, "volumes or images of the project")),
        ],
    ),
    sub(
        "kill,container kill,compose kill",
        "-s --signal -f --file -p",
        &[DAEMON, Rule::Always(Say::Destroy(DestroyClass::Container, "what a running container holds"))],
    ),
    sub(
        "rm,rmi,container rm,container prune,image rm,image prune,image remove,volume rm,volume prune,volume remove,network rm,network prune,system prune,builder prune,buildx prune,buildx rm,compose rm,container remove,machine rm,pod rm,pod prune,system reset,context rm,stack rm,stack down,service rm,secret rm,config rm,node rm,manifest rm,plugin rm,plugin disable",
        "--filter -f --file -p --project-name --time",
        &[DAEMON, LOST],
    ),
    sub(
        "push,image push,compose push,compose publish,manifest push,buildx imagetools create",
        "",
        &[DAEMON, Rule::Always(Say::Package("a container image"))],
    ),
    sub("login,logout", "-u --username -p --password", &[Rule::Always(Say::Privilege("registry credentials"))]),
    sub(
        "stack deploy,service create,service update,service scale,service rollback,swarm init,swarm join,swarm update,node update,node promote,node demote,secret create,config create,plugin install,plugin enable,plugin set,trust,trust sign,trust revoke,checkpoint,manifest create,manifest annotate",
        "-c --compose-file",
        &[DAEMON, Rule::Always(Say::Deploy("a swarm service"))],
    ),
];

const COMPOSE: &[Sub] = &[
    quiet(",version,--version,help"),
    sub("ps,logs,config,top,images,port,events,ls", "--tail", &[DAEMON]),
    sub(
        "up,start,stop,restart,pause,unpause,build,pull,create,scale,kill,watch",
        "--scale --timeout -t",
        &[DAEMON, Rule::Always(Say::Project)],
    ),
    sub(
        "down",
        "--rmi --timeout -t",
        &[
            DAEMON,
            Rule::Always(Say::Project),
            Rule::If("-v --volumes --rmi", Say::Destroy(DestroyClass::Container, "volumes or images of the project")),
        ],
    ),
    sub("rm", "", &[DAEMON, LOST]),
    sub("run", RUN, &[DAEMON, Rule::Code(run)]),
    sub("exec", "-e --env -u --user -w --workdir --index", &[DAEMON, Rule::Code(exec)]),
    sub("push", "", &[DAEMON, Rule::Always(Say::Package("a container image"))]),
];

const KUBE: &[Sub] = &[
    quiet(
        ",version,help,completion,plugin list,options,config view,config current-context,config get-contexts,config get-clusters,kustomize,--version",
    ),
    sub(
        "get,describe,logs,top,explain,api-resources,api-versions,cluster-info,events,diff,auth can-i,auth whoami,rollout status,rollout history,wait,status,projects,project,whoami",
        "-n --namespace -o --output -l --selector -f --filename --context -c --container --tail --since --sort-by --field-selector --for --timeout",
        &[Rule::Code(kube_get)],
    ),
    sub(
        "port-forward,proxy",
        "-n --namespace --address -p --port --context",
        &[Rule::Code(|it| {
            let wide = it.value("--address").is_some();
            it.say(Say::Listen(if wide { ListenScope::Wide } else { ListenScope::Loopback }, "a cluster port"));
            it.say(Say::Service("cluster", Flow::Session));
        })],
    ),
    sub(
        "exec,attach,debug,rsh,cp",
        "-n --namespace -c --container --context --image --target --profile -f",
        &[Rule::Code(kube_exec)],
    ),
    sub(
        "apply,create,run,expose,patch,replace,edit,set,label,annotate,scale,autoscale,rollout restart,rollout undo,rollout pause,rollout resume,cordon,uncordon,taint,certificate,new-app,new-project,start-build,import-image,adm,policy,login,logout",
        "-f --filename -k --kustomize -n --namespace -l --selector -o --output --context --image --replicas -p --patch --type --dry-run",
        &[Rule::Code(kube_change)],
    ),
    sub(
        "delete,drain",
        "-f --filename -k --kustomize -n --namespace -l --selector --context --grace-period --timeout",
        &[Rule::Code(kube_delete)],
    ),
    sub(
        "config,config use-context,config set-context,config set,config set-credentials,config set-cluster,config unset,config delete-context,config delete-cluster,config delete-user,config rename-context",
        "",
        &[Rule::Always(Say::Configuration("which cluster is meant"))],
    ),
];
