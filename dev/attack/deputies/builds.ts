// Hostile code in a build of globex: a script of npm that tries from inside of the build pod what any dependency could try. It
// leaves what it found in the image, from which a pod of globex prints it.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import type { Probe, ProbeResult } from '../agent/probe.ts'
import type { Attack, Attempt } from '../attack.ts'
import { corePath, groupPath } from '../cluster/api-attempts.ts'
import { podSpec } from '../cluster/mounts.ts'
import { judgeConnection } from '../inside/network.ts'
import { judgeRegistry } from '../judge.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import { listens, platformAddress } from '../world/targets.ts'
import { applicationsPath, type World } from '../world/world.ts'
import { emptyApplication, remoteSync } from './manifests.ts'
import { pushBranch } from './own-branch.ts'

const name = 'attack-build'
const branch = 'attack-build'
const workspace = '/workspace'
const probesFile = 'probes.json'

type Planned = { readonly what: string; readonly probe: Probe; readonly judge: (result: ProbeResult) => Promise<Verdict> }

function connection(what: string, host: string, port: number): Planned {
  const judge = async (result: ProbeResult): Promise<Verdict> =>
    judgeConnection(result, { alive: await listens(host, port), walled: false })
  return { what, probe: { kind: 'tcp', host, port }, judge }
}

function registryAttempt(world: World, what: string, method: string, path: string): Planned {
  const judge = async (result: ProbeResult): Promise<Verdict> => {
    if (result.kind === 'answered') return judgeRegistry(result)
    return result.kind === 'timeout' || result.kind === 'refused'
      ? stopped('network', result.kind)
      : unclear(JSON.stringify(result))
  }
  return { what, probe: { kind: 'http', url: `http://${world.targets.registry}/v2/${path}`, method }, judge }
}

/** What would be worth having: credentials for the registry, of the ServiceAccount, of GitHub. */
const credentialPattern =
  /"auths?"\s*:\s*\{\s*"|CNB_REGISTRY_AUTH=[^{]*\{"[^"]+|gh[oprsu]_[A-Za-z0-9_]{30}|serviceaccount\/token: eyJ|PRIVATE KEY/

function judgeEnvironment(result: ProbeResult): Promise<Verdict> {
  if (result.kind !== 'text') return Promise.resolve(unclear(JSON.stringify(result)))
  const found = credentialPattern.exec(result.text)
  return Promise.resolve(
    found === null
      ? stopped('absent', `no credential in ${result.text.length} characters of environment and files`)
      : succeeded(`a credential: ${found[0].slice(0, 30)}…`),
  )
}

function plans(world: World): readonly Planned[] {
  const { targets, settings } = world
  const at = (port: number): string => platformAddress(targets, port)
  const [image = ''] = targets.victim.image.split('@')
  const repository = image.slice(targets.registry.length + 1)
  return [
    connection('pod of acme', targets.victim.pod.address, 3000),
    connection('Service of acme', targets.victim.service.address, 80),
    connection('broker', at(8443), 8443),
    connection('token desk', at(8444), 8444),
    connection('admission', at(9443), 9443),
    connection('records of who changes access', at(9444), 9444),
    connection('metrics', at(8090), 8090),
    connection('API server', targets.nodeAddress, settings.ports.apiServer),
    connection('kubelet', targets.nodeAddress, 10_250),
    connection('metadata of the cloud', '169.254.169.254', 80),
    connection('Azure wire server', '168.63.129.16', 80),
    registryAttempt(world, 'list all repositories', 'GET', '_catalog'),
    registryAttempt(world, 'acme’s tags', 'GET', `${repository}/tags/list`),
    registryAttempt(world, 'an upload to acme', 'POST', `${repository}/blobs/uploads/`),
    registryAttempt(world, 'an upload to its own path', 'POST', `${targets.imagePrefix}globex/site/blobs/uploads/`),
    registryAttempt(world, 'an upload to the run image', 'POST', 'cnb/run/blobs/uploads/'),
    { what: 'credentials in environment and files of the build', probe: { kind: 'environment' }, judge: judgeEnvironment },
  ]
}

/** The hostile application. */
async function hostileFiles(probes: readonly Probe[]): Promise<Readonly<Record<string, string>>> {
  return {
    'agent.ts': await readFile(join(import.meta.dirname, '../agent/agent.ts'), 'utf8'),
    [probesFile]: JSON.stringify(probes),
    'local/package.json': JSON.stringify({ name: 'attack-local', version: '1.0.0' }),
    'package.json': JSON.stringify({
      name: 'attack',
      version: '1.0.0',
      private: true,
      type: 'module',
      scripts: { start: 'node agent.ts', preinstall: `ATTACK_PROBES=${workspace}/${probesFile} node ${workspace}/agent.ts` },
      dependencies: { 'attack-local': `file:${workspace}/local` },
    }),
  }
}

/** Builds that branch; resolves to the image. */
async function build(world: World): Promise<string> {
  const syncs = groupPath('apps.sekisho.dev/v1alpha1', neighbourNamespace, 'remotesyncs')
  await world.journal.note({ kind: 'object', path: `${applicationsPath}/${name}` })
  await world.journal.note({ kind: 'object', path: `${syncs}/${name}` })
  const made = [
    await world.api('gary', 'POST', applicationsPath, { json: emptyApplication(name) }),
    await world.api('gary', 'POST', syncs, { json: remoteSync(name, { source: { branch } }) }),
  ]
  const refused = made.find(({ status }) => status !== 201)
  if (refused !== undefined) throw new Error(`gary cannot build his own repository: ${refused.status} ${refused.text}`)
  return waitUntil(
    'the hostile build to end',
    async () => {
      const { status } = (await world.admin.call('GET', `${syncs}/${name}`)) as {
        status?: { image?: string; failure?: { message: string } }
      }
      if (status?.failure !== undefined) throw new Error(status.failure.message)
      return status?.image
    },
    { timeoutMilliseconds: limits.build },
  )
}

/** A pod of the image prints what the build left in it. */
async function readResults(world: World, image: string): Promise<readonly ProbeResult[]> {
  const pods = corePath(neighbourNamespace, 'pods')
  const path = `${pods}/${name}`
  await world.journal.note({ kind: 'object', path })
  const command = [
    '/usr/local/bin/node',
    '-e',
    `process.stdout.write(require('fs').readFileSync('${workspace}/${probesFile}.results', 'utf8'))`,
  ]
  const answer = await world.api('gary', 'POST', pods, {
    json: { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: podSpec(image, {}, { command }) },
  })
  if (answer.status !== 201) throw new Error(`gary cannot run the image: ${answer.status} ${answer.text}`)
  await waitUntil(
    'the pod to print the results',
    async () => {
      const { status } = (await world.admin.call('GET', path)) as { status?: { phase?: string } }
      return status?.phase === 'Succeeded'
    },
    { timeoutMilliseconds: limits.rollout },
  )
  const log = await world.api('gary', 'GET', `${path}/log`)
  return JSON.parse(log.text)
}

async function buildAttempts(world: World): Promise<readonly Attempt[]> {
  const list = plans(world)
  // The registry answers a build without a credential with a challenge: then the network lets it through, as it must.
  const control: Planned = { ...registryAttempt(world, 'the registry itself', 'GET', ''), judge: async () => unclear('control') }
  await pushBranch(world, branch, await hostileFiles([...list.map(({ probe }) => probe), control.probe]))
  const results = await readResults(world, await build(world))
  if (results.at(-1)?.kind !== 'answered')
    throw new Error(`control: the build cannot reach the registry: ${JSON.stringify(results.at(-1))}`)
  return list.map(({ what, judge }, index) => ({
    name: `build of globex → ${what}`,
    run: async () => judge(results[index] ?? { kind: 'failed', code: 'no result' }),
  }))
}

export const buildAttacks: readonly Attack[] = [
  {
    name: 'builds/hostile-dependency',
    as: 'a dependency that runs in a build of globex',
    against: 'acme, the platform, the node, and the registry',
    tries: 'Connects, pulls, uploads and looks for credentials from inside of the build pod.',
    expected: ['network', 'registry', 'absent'],
    peer: 'kpack: credentials in the build pod',
    form: 'long',
    attempts: buildAttempts,
  },
]
