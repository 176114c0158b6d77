// Repositories as people bring them, applied at once: what becomes of each, and how long its build and rollout may take.
import { afterAll, beforeAll, test } from 'vitest'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { openBranch } from './branch.ts'
import { applicationManifest, remoteSyncManifest } from './manifests.ts'
import { read, readyOf } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { nodeRepositories } from './repositories/node.ts'
import { otherRepositories } from './repositories/other.ts'
import { pythonRepositories, staticRepositories } from './repositories/python.ts'
import type { Repository } from './repositories/repository.ts'
import { requestVersion } from './serving.ts'

const branchName = 'e2e-repositories'
const repositories: readonly Repository[] = [
  ...nodeRepositories,
  ...pythonRepositories,
  ...staticRepositories,
  ...otherRepositories,
]
const references = repositories.flatMap(({ name }) => [`remotesync/${name}`, `application/${name}`])

let platform: Platform

function manifests({ name, application, remoteSync, subPath }: Repository): readonly object[] {
  return [
    applicationManifest(name, application ?? { processes: [{ name: 'web', port: 3000, cpu: '10m', memory: '128Mi' }] }),
    remoteSyncManifest(name, {
      source: { branch: branchName },
      ...remoteSync,
      subPath: subPath === undefined ? name : `${name}/${subPath}`,
    }),
  ]
}

beforeAll(async () => {
  platform = await openPlatform(['dave', 'ada'])
  await platform.remove(references)
  const branch = await openBranch(platform.world, branchName)
  const files = repositories.flatMap(({ name, files }) =>
    Object.entries(files).map(([path, content]) => [`${name}/${path}`, content] as const),
  )
  await branch.push('repositories', Object.fromEntries(files))
  await platform.apply('dave', repositories.flatMap(manifests))
})

afterAll(async () => {
  await platform.remove(references)
  await platform.admin.close()
})

async function buildBegan(name: string): Promise<boolean> {
  const { status } = await read(platform.admin, `remotesync/${name}`)
  return (status?.['phases'] as { readonly buildStartedAt?: string } | undefined)?.buildStartedAt !== undefined
}

async function isSeen({ name, becomes }: Repository): Promise<boolean> {
  if (becomes.kind === 'served') {
    const answer = await requestVersion(`http://${name}.acme.localhost:8080`, becomes.path ?? '/')
    if (answer.status === 200 && answer.text.includes(becomes.text)) return true
    const ready = readyOf(await read(platform.admin, `remotesync/${name}`))
    throw new Error(`${answer.status} ${answer.text.slice(0, 100)}; ${ready?.reason}: ${ready?.message}`)
  }
  const ready = readyOf(await read(platform.admin, `${becomes.by}/${name}`))
  if (ready?.reason === becomes.reason && becomes.message.test(ready.message)) return true
  throw new Error(`${ready?.reason}: ${ready?.message}`)
}

// Two are built at a time, so a build waits in the queue of all before its own time counts.
test.each(repositories)('$what', async repository => {
  const { name, maxSeconds } = repository
  await waitUntil(`the build of ${name} begins`, () => buildBegan(name), { timeoutMilliseconds: limits.minutes })
  await waitUntil(`${name} becomes what it should`, () => isSeen(repository), { timeoutMilliseconds: maxSeconds * 1000 })
})
