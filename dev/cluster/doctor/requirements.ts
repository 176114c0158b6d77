// What a machine needs, as a list of findings: a pure function of the collected facts.
// A requirement that is not met always names the command that fixes it.
import type { Shortcoming } from '../../../src/lib/limits/node-limits.ts'
import type { DebianPackage } from '../node/packages.ts'
import { installCommand } from '../node/packages.ts'

export type Facts = {
  readonly linux: boolean
  readonly root: boolean
  /** Output of `go version`, `git --version` and so on; undefined when the program is missing. */
  readonly versions: Readonly<Record<'go' | 'git' | 'make' | 'node' | 'openssl' | 'tar', string | undefined>>
  /** Catalog entries that are not cached yet and therefore need Go. */
  readonly toBuild: readonly string[]
  readonly missingPackages: readonly DebianPackage[]
  readonly apt: boolean
  /** Ports on which another process listens: `port → purpose`. */
  readonly takenPorts: readonly { readonly port: number; readonly purpose: string }[]
  /** Whether the kernel has, or can load, what the network policy agent uses. */
  readonly packetQueue: boolean
  /** Limits of the kernel that all pods share and that are too low. */
  readonly kernelLimits: readonly Shortcoming[]
  readonly freeGibibytes: number
  readonly otherOwner: string | undefined
}

export type Finding = {
  readonly name: string
  readonly found: string
  readonly state: 'ok' | 'warning' | 'missing'
  readonly cure?: string
}

const neededGo = [1, 25] as const
const neededNodeMajor = 24
/** A cold start: about 8 GiB for Go's caches, 1 for the programs, the rest for images and layers. */
const neededGibibytes = 15

function numbersIn(version: string | undefined): readonly [number, number] | undefined {
  const match = /(\d+)\.(\d+)/.exec(version ?? '')
  return match === null ? undefined : [Number(match[1]), Number(match[2])]
}

function goFinding(facts: Facts): Finding {
  const version = numbersIn(facts.versions.go)
  const enough = version !== undefined && (version[0] > neededGo[0] || (version[0] === neededGo[0] && version[1] >= neededGo[1]))
  if (enough) return { name: 'Go ≥ 1.25', found: facts.versions.go ?? '', state: 'ok' }
  const cure = 'install Go from https://go.dev/doc/install and put it on PATH'
  const need =
    facts.toBuild.length === 0 ? 'not needed now: all programs are cached' : `needed to build ${facts.toBuild.join(', ')}`
  return {
    name: 'Go ≥ 1.25',
    found: `${facts.versions.go ?? 'not found'} (${need})`,
    state: facts.toBuild.length === 0 ? 'warning' : 'missing',
    cure,
  }
}

function programFinding(facts: Facts, program: 'git' | 'make' | 'openssl' | 'tar'): Finding {
  const version = facts.versions[program]
  if (version !== undefined) return { name: program, found: version.split('\n')[0] ?? '', state: 'ok' }
  return { name: program, found: 'not found', state: 'missing', cure: `apt-get install -y ${program}` }
}

function nodeFinding(facts: Facts): Finding {
  const name = `Node.js ${neededNodeMajor}`
  const found = facts.versions.node ?? 'not found'
  const enough = (numbersIn(facts.versions.node)?.[0] ?? 0) >= neededNodeMajor
  return enough
    ? { name, found, state: 'ok' }
    : { name, found, state: 'missing', cure: 'export PATH="$(dev/bootstrap/node.sh):$PATH"' }
}

function packagesFinding(facts: Facts): Finding {
  const name = 'Debian packages'
  if (facts.missingPackages.length === 0) return { name, found: 'all installed', state: 'ok' }
  const found = `missing: ${facts.missingPackages.map(item => `${item.name} (${item.why})`).join(', ')}`
  const installs = facts.root && facts.apt
  return {
    name,
    found: installs ? `${found}; "up" installs them` : found,
    state: installs || !facts.root ? 'warning' : 'missing',
    cure: installCommand(facts.missingPackages),
  }
}

/** Network policies are enforced by a queue of packets (NFQUEUE), between two pods only with the bridge's filter. */
function packetQueueFinding(facts: Facts): Finding {
  const name = 'packet queue'
  if (facts.packetQueue) return { name, found: 'nfnetlink_queue and br_netfilter', state: 'ok' }
  return {
    name,
    found: 'the kernel has no nfnetlink_queue or no br_netfilter: network policies cannot be enforced',
    state: 'missing',
    cure: 'modprobe -a nfnetlink_queue xt_NFQUEUE br_netfilter, or use a kernel that has them',
  }
}

/** Without them the cluster works, and one pod may use up what all share. */
function kernelLimitsFinding({ kernelLimits }: Facts): Finding {
  const name = 'kernel limits'
  if (kernelLimits.length === 0) return { name, found: 'no pod uses one up', state: 'ok' }
  return {
    name,
    found: `${kernelLimits.map(({ limit, found, wanted }) => `${limit} is ${found} (${wanted})`).join(', ')}; "up" raises them until "down"`,
    state: 'warning',
    cure: kernelLimits.map(({ cure }) => cure).join('; '),
  }
}

export function findings(facts: Facts): readonly Finding[] {
  const ports = facts.takenPorts.map(item => `${item.port} (${item.purpose})`).join(', ')
  return [
    facts.linux
      ? { name: 'Linux', found: 'yes', state: 'ok' }
      : { name: 'Linux', found: 'no', state: 'missing', cure: 'use a Linux machine, or set KUBECONFIG to a cluster of your own' },
    goFinding(facts),
    nodeFinding(facts),
    ...(['git', 'make', 'openssl', 'tar'] as const).map(program => programFinding(facts, program)),
    facts.root
      ? { name: 'root', found: 'yes', state: 'ok' }
      : {
          name: 'root',
          found: 'no: only a control plane can run, no pods',
          state: 'warning',
          cure: 'run as root, or set KUBECONFIG',
        },
    packagesFinding(facts),
    ...(facts.root ? [packetQueueFinding(facts), kernelLimitsFinding(facts)] : []),
    ports === ''
      ? { name: 'ports', found: 'free, or used by this cluster', state: 'ok' }
      : {
          name: 'ports',
          found: `in use by another process: ${ports}`,
          state: 'missing',
          cure: 'end the process that listens (ss -ltnp), or set the SEKISHO_… variable of the port',
        },
    facts.freeGibibytes >= neededGibibytes
      ? { name: 'disk', found: `${facts.freeGibibytes} GiB free`, state: 'ok' }
      : {
          name: 'disk',
          found: `${facts.freeGibibytes} GiB free; a first start needs ${neededGibibytes} GiB`,
          state: 'warning',
          cure: 'free disk space, or set SEKISHO_CACHE to another disk',
        },
    facts.otherOwner === undefined
      ? { name: 'other checkout', found: 'no other checkout runs a cluster', state: 'ok' }
      : {
          name: 'other checkout',
          found: `${facts.otherOwner} runs a cluster`,
          state: 'missing',
          cure: `make -C ${facts.otherOwner} down`,
        },
  ]
}

export function findingsTable(rows: readonly Finding[]): string {
  const mark = { ok: 'ok     ', warning: 'warning', missing: 'missing' } as const
  const width = Math.max(...rows.map(row => row.name.length))
  const lines = rows.flatMap(row => [
    `${mark[row.state]}  ${row.name.padEnd(width)}  ${row.found}`,
    ...(row.state === 'ok' || row.cure === undefined ? [] : [`         ${' '.repeat(width)}  → ${row.cure}`]),
  ])
  return `${lines.join('\n')}\n`
}
