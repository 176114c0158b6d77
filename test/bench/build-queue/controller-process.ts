// The product's RemoteSync controller as a process, controlled by lines of JSON: the code path of production from the object to
// kpack's Build, with the queue. GitHub is a server in this process with one repository, and sources are not fetched: neither
// has a queue that is measured.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRemoteSyncController } from '../../../src/controllers/remote-sync/index.ts'
import { createKubeClient } from '../../../src/kube/client/kube-client.ts'
import { loadKubeConnection } from '../../../src/kube/kubeconfig/kubeconfig.ts'
import { createManager } from '../../../src/kube/manager.ts'
import { createEventRecorder } from '../../../src/kube/object/events.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { messageOf } from '../../../src/lib/errors.ts'
import { createLog } from '../../../src/lib/log.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { projectMetadata } from '../../fixtures/small-registry.ts'
import { dispatchCommands } from '../harness/command-server.ts'
import { commit, repository } from './objects.ts'

const random = Math.random
// Standard output carries the answers.
const log = createLog({ level: 'silent', name: 'bench' })

const github = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://here')
  const branch = pathname.endsWith('/branches/main')
  const facts = { id: repository.id, full_name: repository.fullName, default_branch: 'main' }
  const answer = branch ? { name: 'main', commit: { sha: commit } } : facts
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
})
github.listen(0, '127.0.0.1')
await once(github, 'listening')
const web = `http://127.0.0.1:${(github.address() as AddressInfo).port}`

async function start(platformBuilds: number): Promise<void> {
  const connection = await loadKubeConnection({ environment: process.env, clock })
  const client = createKubeClient({ connection, component: 'bench', clock, random })
  const manager = createManager({ client, log, clock, random })
  const events = createEventRecorder({ client, clock, log, component: 'sekisho-controllers' })
  const resources = { cpuRequest: '10m', memoryRequest: '10Mi', memoryLimit: '1Gi' }
  const place = {
    registry: 'registry.test',
    clusterBuilder: 'sekisho',
    serviceAccount: 'builder',
    builders: new Map<string, string>(),
  }
  manager.add(
    createRemoteSyncController({
      recordPushes: async () => {},
      tagImage: undefined,
      ...{ manager, events, clock, log, platformBuilds },
      sweepMilliseconds: 300_000,
      prepareRollout: () => {},
      offer: { builders: [], most: { cpu: '4', memory: '8Gi', ephemeralStorage: '40Gi' } },
      endpointsOf: async () => ({ host: 'github.localhost', web, api: `${web}/api/v3` }),
      tokens: {
        request: async () => ({
          token: new SecretString('ghs_0123456789abcdefghijABCDEFGHIJ012345'),
          expiresAt: new Date(Date.now() + 3_600_000),
          renewFrom: new Date(Date.now() + 3_600_000),
          repositories: [repository],
          permissions: { contents: 'read', metadata: 'read' },
          host: 'github.localhost',
          endpoints: { host: 'github.localhost', web, api: `${web}/api/v3` },
        }),
      },
      sources: {
        has: async () => true,
        ensure: async () => ({ url: 'http://source.test/of-the-bench' }),
        revoke: async () => {},
        revokeOwner: async () => {},
      },
      logs: { collectFrom: () => {} },
      labelsOf: async () => ({ kind: 'labels', labels: { 'io.buildpacks.project.metadata': projectMetadata(commit) } }),
      imageClaims: { claim: () => true },
      freshLabelsOf: async () => ({ kind: 'labels', labels: { 'io.buildpacks.project.metadata': projectMetadata(commit) } }),
      kpack: { installed: true, settings: { ...place, resources } },
      buildkit: undefined,
      buildpacks: undefined,
    }),
  )
  manager.start().catch((error: unknown) => {
    process.stderr.write(`${messageOf(error)}\n`)
    process.exit(1)
  })
}

await dispatchCommands({
  async start({ platformBuilds }) {
    await start(Number(platformBuilds))
    return {}
  },
})
process.exit(0)
