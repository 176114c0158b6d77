// The container runtime with its own configuration, data and socket. It must never touch a containerd that the host runs itself.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject } from '../../../../src/lib/json/json-value.ts'
import { containerPtys } from '../../../../src/lib/limits/node-limits.ts'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import { catalog } from '../../binaries/catalog.ts'
import { cacheFolderOf } from '../../binaries/ensure-binary.ts'
import { enterCgroup } from '../../host/cgroups.ts'
import type { Program } from '../../processes/supervise.ts'
import { ensureRunning, hasEnded } from '../../processes/supervise.ts'
import { replaceFile } from '../../replace-file.ts'
import { runCommand, tryCommand } from '../../run-command.ts'
import { nodeRegistryHost, registryHost, toolEnvironment } from '../../settings.ts'
import type { NodeContext, NodeLayout } from '../layout.ts'
import { cgroupName, cniPluginFolder } from '../layout.ts'
import { gvisorConfiguration, gvisorConfigurationFile, gvisorHandler } from './gvisor.ts'

const readyMilliseconds = 30_000
const baseSpecificationFile = 'containerd-base-specification.json'

/**
 * containerd's configuration (version 2, read by 1.6 and later). `restrict_oom_score_adj`: without CAP_SYS_RESOURCE the
 * runtime may not lower scores, and every sandbox would die. Network namespaces live below the state folder, so that
 * cleaning the folder's mounts cleans them too.
 */
export function containerdConfiguration(layout: NodeLayout, sandboxImage: string): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"'
  const inFolder = (...parts: string[]): string => JSON.stringify(join(layout.folder, ...parts))
  return `version = 2
root = ${inFolder('containerd', 'root')}
state = ${inFolder('containerd', 'state')}
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper"]

[grpc]
address = ${JSON.stringify(layout.containerdSocket)}

[${cri}]
sandbox_image = ${JSON.stringify(sandboxImage)}
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
stream_server_address = "127.0.0.1"
stream_server_port = "0"

[${cri}.cni]
bin_dir = ${JSON.stringify(cniPluginFolder)}
conf_dir = ${JSON.stringify(layout.cniConfiguration)}

[${cri}.registry]
config_path = ${JSON.stringify(layout.registryCertificates)}

[${cri}.containerd]
snapshotter = "overlayfs"
default_runtime_name = "runc"

[${cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
base_runtime_spec = ${inFolder('config', baseSpecificationFile)}

[${cri}.containerd.runtimes.runc.options]
SystemdCgroup = false
Root = ${inFolder('runc')}

[${cri}.containerd.runtimes.${gvisorHandler}]
runtime_type = "io.containerd.runsc.v1"

[${cri}.containerd.runtimes.${gvisorHandler}.options]
TypeUrl = "io.containerd.runsc.v1.options"
ConfigPath = ${inFolder('config', gvisorConfigurationFile)}
`
}

/**
 * What every container begins with: containerd's own specification, as `ctr oci spec` prints it, with a limit of
 * pseudo-terminals, which are of the node. Without the resource limits in it, which containerd's CRI leaves out only where no
 * specification is configured.
 */
export function baseSpecification(specification: unknown): string {
  if (!isJsonObject(specification) || !isJsonObject(specification['process']) || !Array.isArray(specification['mounts']))
    throw new Error('ctr oci spec printed no runtime specification')
  const { rlimits: _, ...process } = specification['process']
  const mounts = specification['mounts'].map((mount: unknown) => {
    if (!isJsonObject(mount) || mount['type'] !== 'devpts' || !Array.isArray(mount['options'])) return mount
    return { ...mount, options: [...mount['options'], `max=${containerPtys}`] }
  })
  return JSON.stringify({ ...specification, process, mounts })
}

/**
 * Lets the node pull from a local registry over plain http (containerd "Registry Configuration", hosts.toml). The authority is
 * the one of the token server, which containerd asks over TLS with the same settings.
 */
export function registryHosts(host: string, authorityFile: string): string {
  const lines = [
    `server = "http://${host}"`,
    '',
    `[host."http://${host}"]`,
    'capabilities = ["pull", "resolve"]',
    `ca = ${JSON.stringify(authorityFile)}`,
    '',
  ]
  return lines.join('\n')
}

export async function startContainerd(context: NodeContext, sandboxImage: string, authorityFile: string): Promise<void> {
  const { layout, settings, folders } = context
  const configuration = join(layout.folder, 'config', 'containerd.toml')
  for (const host of [registryHost(settings), nodeRegistryHost(settings)]) {
    const hosts = join(layout.registryCertificates, host)
    await mkdir(hosts, { recursive: true })
    await replaceFile(join(hosts, 'hosts.toml'), registryHosts(host, authorityFile))
  }
  const specification = join(layout.folder, 'config', baseSpecificationFile)
  await replaceFile(specification, baseSpecification(JSON.parse(await runCommand('ctr', ['oci', 'spec']))))
  await replaceFile(configuration, containerdConfiguration(layout, sandboxImage))
  const gvisor = await cacheFolderOf(catalog.gvisor, settings)
  await replaceFile(join(layout.folder, 'config', gvisorConfigurationFile), gvisorConfiguration(layout.folder, gvisor))
  const program: Program = {
    name: 'containerd',
    path: '/usr/bin/containerd',
    args: ['--config', configuration, '--log-level', 'warn'],
    configurationFiles: [configuration, specification],
    // containerd looks for a runtime by its name: that of gVisor is there once somebody has made it.
    environment: { PATH: [gvisor, toolEnvironment()['PATH']].join(':') },
    afterStart: pid => enterCgroup(cgroupName, pid),
  }
  await ensureRunning(program, folders)
  await waitUntil('containerd', async () => (await ctr(context, ['version'])).code === 0, {
    timeoutMilliseconds: readyMilliseconds,
    hopeless: () => hasEnded('containerd', folders),
  })
}

/** containerd's own client, in the namespace where the kubelet's images and containers are. */
export async function ctr(context: NodeContext, args: readonly string[]) {
  return tryCommand('ctr', ['--address', context.layout.containerdSocket, '--namespace', 'k8s.io', ...args])
}
