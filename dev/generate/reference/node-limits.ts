// docs/reference/node-limits.md: the limits that all pods of a node share, from the data by which nodes are set and checked.
import { containerPtys, kernelLimits, podPids } from '../../../src/lib/limits/node-limits.ts'
import { code, page, table } from '../markdown.ts'

const sysctls = kernelLimits.map(({ name, least }) => `${name} = ${least}`)

/** The page as Markdown. */
export function nodeLimitsPage(): string {
  return page({
    title: 'Limits of a node',
    subject: 'This page lists the limits that each node needs on which pods of tenants run.',
    source: '`src/lib/limits/node-limits.ts`',
    sections: [
      'Without them one pod may use up what all pods of the node share ([ADR 0059](../adr/0059-who-keeps-the-limits-of-a-node.md)). The local cluster sets them and `make down` sets them back.',
      '## Kernel',
      table(
        ['sysctl', 'At least', 'Counts', 'What ends first then'],
        kernelLimits.map(({ name, least, counts, keeper }) => [code(name), String(least), counts, keeper]),
      ),
      `\`\`\`\ncat > /etc/sysctl.d/90-sekisho.conf <<'EOF'\n${sysctls.join('\n')}\nEOF\nsysctl --system\n\`\`\``,
      'Leave out what is higher already (`sysctl fs.file-max` and so on): systemd, for one, sets `fs.file-max` to its most.',
      'A pod sees its own `kernel.pid_max` instead of the node’s since Linux 6.14, so that the platform cannot tell that it is too low there: `sysctl kernel.pid_max` on the node does.',
      '## Kubelet',
      `Processes and threads of a pod: \`podPidsLimit: ${podPids}\` in the KubeletConfiguration of each node (\`/var/lib/kubelet/config.yaml\`), then \`systemctl restart kubelet\`. It holds for pods that start afterwards. \`podPidsLimit\` × \`maxPods\` must be less than \`kernel.pid_max\`.`,
      '## Container runtime',
      `Pseudo-terminals of a container: at most ${containerPtys}. For containerd, with \`jq\`:`,
      `\`\`\`\nctr oci spec | jq 'del(.process.rlimits) | (.mounts[] | select(.type == "devpts") | .options) += ["max=${containerPtys}"]' > /etc/containerd/base-specification.json\n\`\`\``,
      'Then `base_runtime_spec = "/etc/containerd/base-specification.json"` in the table of the runtime in `/etc/containerd/config.toml` (version 2: `[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]`), and `systemctl restart containerd`. It holds for containers that start afterwards: `grep devpts /proc/self/mountinfo` in one shows `max=`.',
    ],
  })
}
