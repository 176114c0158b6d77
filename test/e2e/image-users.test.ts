// Under which user images run that say one by number, by name, as root or not at all: always as the id 1001 of the tenant's
// range and with group 0, whatever their Dockerfile says. What everybody or group 0 may read can be read; what belongs to the
// image's user alone cannot.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readClusterSettings, tenantRegistry } from '../../dev/cluster/settings.ts'
import { defaultImageUser } from '../../src/lib/limits/user-range.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { openBranch } from './branch.ts'
import { applicationManifest, remoteSyncManifest } from './manifests.ts'
import { find, firstUserOfTenant, readyOf, untilReason } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { requestVersion } from './serving.ts'

const prefix = 'e2e-user'
const stages = ['numeric', 'named', 'root', 'none'] as const
type Stage = (typeof stages)[number]

const nameOf = (stage: Stage): string => `${prefix}-${stage}`
const references = stages.flatMap(stage => [`remotesync/${nameOf(stage)}`, `application/${nameOf(stage)}`])

/**
 * Answers with what the process is and may do. busybox serves it and nothing else is in the image, so that a build takes
 * seconds.
 */
const program = `#!/bin/sh
echo 'Content-Type: text/plain'
echo
can() { if "$@" >/dev/null 2>&1; then echo "$what: yes"; else echo "$what: no"; fi; }
echo "user: $(busybox id -u)"
echo "groups: $(busybox id -G)"
echo "home: $HOME"
what='read a file of the user for everybody' can cat /files/everybody
what='read a file of the user for its group' can cat /files/group
what='read a file of the user alone' can cat /files/alone
what='write to /tmp' can touch /tmp/probe
what='write to home' can touch "$HOME/probe"
`

/** On SIGTERM the first process of a container ends only if it says so. */
const start = `trap 'exit 0' TERM; busybox httpd -f -p "$PORT" -h /www & wait`

/**
 * The stages differ in USER and in whom the files belong to. No image that a build may read is without a USER, so they begin
 * with nothing.
 */
const dockerfile = [
  'ARG BASE',
  'FROM $BASE AS base',
  'FROM scratch AS files',
  'COPY --from=base /bin/ /bin/',
  'RUN mkdir -p /etc /files && echo app:x:1234:1234::/home/app:/bin/sh >/etc/passwd',
  'RUN cd /files && touch everybody group alone && chmod 0644 everybody && chmod 0640 group && chmod 0600 alone',
  'COPY --chmod=0755 user /www/cgi-bin/user',
  'RUN touch /www/healthz',
  `CMD ["/bin/sh", "-c", ${JSON.stringify(start)}]`,
  'FROM files AS numeric',
  'RUN chown -R 1001:0 /files',
  'USER 1001',
  'FROM files AS named',
  'RUN chown -R 1234:1234 /files && mkdir -p /home/app && chown 1234 /home/app && chmod 0777 /home/app',
  'ENV HOME=/home/app',
  'USER app',
  'FROM files AS root',
  'USER root',
  'FROM files AS none',
]

let platform: Platform
let first = 0

beforeAll(async () => {
  platform = await openPlatform(['dave'])
  await platform.remove(references)
  first = await firstUserOfTenant(platform.admin)
})

afterAll(async () => {
  await platform.remove(references)
  await platform.admin.close()
})

async function answerOf(stage: Stage): Promise<Readonly<Record<string, string>>> {
  const text = await waitUntil(`${nameOf(stage)} answers`, async () => {
    const answer = await requestVersion(`http://${nameOf(stage)}.acme.localhost:8080`, '/cgi-bin/user')
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
    return answer.text
  })
  return Object.fromEntries(
    text
      .trimEnd()
      .split('\n')
      .map(line => line.split(': ', 2) as [string, string]),
  )
}

// Four builds, one after the other on a small machine.
test('images with a USER by number, by name, as root and without one run as a user of the tenant, in group 0', async () => {
  const branch = await openBranch(platform.world, prefix)
  const commit = await branch.push('users', { Dockerfile: `${dockerfile.join('\n')}\n`, user: program })
  const args = [{ name: 'BASE', value: `${tenantRegistry(readClusterSettings()).split('/')[0]}/cnb/run:1` }]
  const settings: Partial<Record<Stage, object>> = {
    named: { attributes: { 'writable-root-filesystem': 'true' } },
    none: { env: [{ name: 'HOME', value: '/tmp' }] },
  }
  const objects = stages.flatMap(stage => [
    applicationManifest(nameOf(stage), { ...settings[stage] }),
    remoteSyncManifest(nameOf(stage), {
      source: { branch: prefix },
      build: { strategy: 'Dockerfile', dockerfile: { args, target: stage } },
      application: nameOf(stage),
    }),
  ])
  await platform.apply('dave', objects)
  for (const stage of stages)
    await waitUntil(
      `${nameOf(stage)} is deployed`,
      async () => {
        const sync = await find(platform.admin, `remotesync/${nameOf(stage)}`)
        const ready = readyOf(sync)
        if (ready?.reason !== 'Deployed' || sync?.status?.['commit'] !== commit)
          throw new Error(`${ready?.reason}: ${ready?.message}`)
        return true
      },
      { timeoutMilliseconds: limits.build },
    )

  const asEveryImage = {
    user: String(first + defaultImageUser),
    groups: '0',
    'read a file of the user for everybody': 'yes',
    'read a file of the user alone': 'no',
    'write to /tmp': 'yes',
  }
  // Without an entry in /etc/passwd the runtime gives a process / as its home.
  const homeless = { home: '/', 'write to home': 'no' }
  const forItsGroup = (answer: 'yes' | 'no') => ({ 'read a file of the user for its group': answer })
  const expected: Readonly<Record<Stage, object>> = {
    numeric: { ...asEveryImage, ...homeless, ...forItsGroup('yes') },
    named: { ...asEveryImage, home: '/home/app', 'write to home': 'yes', ...forItsGroup('no') },
    root: { ...asEveryImage, ...homeless, ...forItsGroup('yes') },
    none: { ...asEveryImage, home: '/tmp', 'write to home': 'yes', ...forItsGroup('yes') },
  }
  for (const stage of stages) {
    await untilReason(platform.admin, `application/${nameOf(stage)}`, 'Available')
    expect({ stage, ...(await answerOf(stage)) }).toEqual({ stage, ...expected[stage] })
  }
})
