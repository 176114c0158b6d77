// Enforces NetworkPolicies on the node: firewall rules put the first packet of each connection of a pod into a queue, and the
// agent, a host process, gives the verdict. Fail closed: while the agent does not run, pods open no connection. Pods have no
// IPv6 here, so what they send over it (between pods of one bridge, by link-local addresses) is dropped.
import { readFile } from 'node:fs/promises'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { ensureRunning, hasEnded } from '../processes/supervise.ts'
import { runCommand, tryCommand } from '../run-command.ts'
import type { ClusterSettings } from '../settings.ts'
import type { NodeContext } from './layout.ts'
import { bridgeName, policyMetricsPort, policyQueue } from './layout.ts'

export type FirewallRule = { readonly chain: string; readonly match: readonly string[] }

const readyMilliseconds = 30_000
/** Has the prefix by which the host record finds our chains again. */
const policyChain = 'SEKISHO-POLICY'
const queues = '/proc/net/netfilter/nfnetlink_queue'

/**
 * The rules of the table mangle by program, in the order in which they are added: the verdict first, then what leads to it.
 * Egress is judged after the translation of Service addresses. The kubelet's probes come from root on this host, with the
 * bridge's address, which is one of the pods' range; Kubernetes allows them always. Packets that are only forwarded have no
 * owner. INPUT: pods to the node, where registry, GitHub and API server listen.
 */
export function firewallRules(settings: Pick<ClusterSettings, 'podCidr'>): {
  readonly iptables: readonly FirewallRule[]
  readonly ip6tables: readonly FirewallRule[]
} {
  const judge = ['-m', 'conntrack', '--ctstate', 'NEW', '-j', policyChain]
  const notByRoot = ['-m', 'owner', '!', '--uid-owner', '0', ...judge]
  return {
    iptables: [
      { chain: policyChain, match: ['-j', 'NFQUEUE', '--queue-num', String(policyQueue)] },
      { chain: 'POSTROUTING', match: ['-s', settings.podCidr, ...notByRoot] },
      { chain: 'POSTROUTING', match: ['-d', settings.podCidr, ...notByRoot] },
      { chain: 'INPUT', match: ['-i', bridgeName, ...judge] },
    ],
    ip6tables: [
      { chain: policyChain, match: ['-j', 'DROP'] },
      { chain: 'PREROUTING', match: ['-i', bridgeName, '-j', policyChain] },
    ],
  }
}

async function applyRules(program: string, rules: readonly FirewallRule[]): Promise<void> {
  const table = (...args: readonly string[]) => ['-w', '-t', 'mangle', ...args]
  const exists = await tryCommand(program, table('-n', '-L', policyChain))
  if (exists.code !== 0) await runCommand(program, table('-N', policyChain))
  for (const { chain, match } of rules) {
    const present = await tryCommand(program, table('-C', chain, ...match))
    if (present.code !== 0) await runCommand(program, table('-A', chain, ...match))
  }
}

/** Resolves when the agent listens on the queue. Call before pods can start. */
export async function startNetworkPolicies(context: NodeContext, path: string, kubeconfig: string): Promise<void> {
  const { settings, folders } = context
  for (const [program, rules] of Object.entries(firewallRules(settings))) await applyRules(program, rules)
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--node=${settings.nodeName}`,
    `--queue=${policyQueue}`,
    `--metrics-address=127.0.0.1:${policyMetricsPort}`,
  ]
  await ensureRunning({ name: 'network-policies', path, args, configurationFiles: [kubeconfig] }, folders)
  const listens = new RegExp(`^\\s*${policyQueue}\\s`, 'm')
  await waitUntil(`network policies at queue ${policyQueue}`, async () => listens.test(await readFile(queues, 'utf8')), {
    timeoutMilliseconds: readyMilliseconds,
    hopeless: () => hasEnded('network-policies', folders),
  })
}
