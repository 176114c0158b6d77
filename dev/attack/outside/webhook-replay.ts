// Deliveries of GitHub that somebody recorded on their way, with their signature: sent again as they were, under another id or
// event, or changed. GitHub signs the body only. A delivery is a hint, so that an old one may wake an object, and changes
// nothing that GitHub does not say now.
import { createHmac, randomUUID } from 'node:crypto'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import { readLocalGitHub } from '../../up/github.ts'
import { type Attack, type Attempt, inTurn } from '../attack.ts'
import { groupPath } from '../cluster/api-attempts.ts'
import type { Shown } from '../deputies/object-attempts.ts'
import { judgeBroker } from '../judge.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { HttpAnswer } from '../world/http.ts'
import type { World } from '../world/world.ts'

const installations = `${groupPath('github.sekisho.dev/v1alpha1', neighbourNamespace, 'installations')}/github`
const site = `${groupPath('apps.sekisho.dev/v1alpha1', neighbourNamespace, 'remotesyncs')}/site`

type Recorded = { readonly event: string; readonly body: string; readonly signature: string }

/** Signed as GitHub signed it at the time: the attacker has body and signature, not the secret. */
async function recorded(world: World, event: string, content: object): Promise<Recorded> {
  const { webhookSecret } = await readLocalGitHub(world.settings)
  const body = JSON.stringify(content)
  return { event, body, signature: `sha256=${createHmac('sha256', webhookSecret).update(body).digest('hex')}` }
}

function deliver(world: World, { event, body, signature }: Recorded, id: string): Promise<HttpAnswer> {
  return world.http.send(`${world.targets.issuer}/webhooks/github`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': signature,
    },
  })
}

const shownSite = async (world: World): Promise<Shown> => (await world.admin.call('GET', site)) as Shown

/** Undefined until the RemoteSync has been checked for a delivery that came then, or later. */
async function checkedSince(world: World, sent: Date): Promise<Shown | undefined> {
  const shown = await shownSite(world)
  const [received = ''] = String(shown.status?.['handledWake'] ?? '').split('/')
  return Date.parse(received) >= sent.getTime() ? shown : undefined
}

async function installationId(world: World): Promise<unknown> {
  return ((await world.admin.call('GET', installations)) as Shown).spec['installationId']
}

/** An old push, with the commit that was the newest one then. */
async function oldPush(world: World, names: object): Promise<Recorded> {
  const { repository } = (await shownSite(world)).status as { readonly repository?: { readonly id: number } }
  return recorded(world, 'push', {
    ref: 'refs/heads/main',
    before: '0'.repeat(40),
    after: '1'.repeat(40),
    repository: { id: repository?.id, full_name: 'globex/site', default_branch: 'main' },
    installation: { id: await installationId(world) },
    sender: { id: 1004 },
    ...names,
  })
}

/** The old commit is not taken: the RemoteSync was woken, asked GitHub, and has the commit that it had. */
function replayedPush(world: World, what: string, names: object): Attempt {
  return {
    name: `a push ${what}, under another delivery id`,
    async run() {
      const before = (await shownSite(world)).status?.['commit']
      const push = await oldPush(world, names)
      const sent = new Date()
      const answer = await deliver(world, push, randomUUID())
      if (answer.status !== 202) return judgeBroker(answer)
      const after = await waitUntil('the RemoteSync to be checked', () => checkedSince(world, sent))
      const commit = after.status?.['commit']
      return commit === before
        ? stopped('controller', `woken by an old push: GitHub says ${String(commit)}, as before`)
        : succeeded(`${String(before)} became ${String(commit)}`)
    },
  }
}

/** The inbox keeps the ids that it has taken. */
function sameDelivery(world: World): Attempt {
  return {
    name: 'a push under the same delivery id',
    async run(): Promise<Verdict> {
      const [id, push] = [randomUUID(), await oldPush(world, {})]
      const first = await deliver(world, push, id)
      if (first.status !== 202) return unclear(`the first: ${first.status} ${first.text}`)
      const second = await deliver(world, push, id)
      if (second.text.includes('"duplicate"')) return stopped('broker', `${second.status} ${second.text}`)
      return second.status < 300 ? succeeded(`${second.status} ${second.text}`) : judgeBroker(second)
    },
  }
}

function changedDelivery(world: World, what: string, change: (push: Recorded) => Recorded): Attempt {
  return {
    name: `a push ${what}`,
    run: async () => judgeBroker(await deliver(world, change(await oldPush(world, {})), randomUUID())),
  }
}

/** That an installation ended is read from GitHub, whatever an old delivery says. */
function replayedRemoval(world: World): Attempt {
  return {
    name: 'the removal of globex’s installation, from before it was installed again',
    async run() {
      const id = randomUUID()
      const removal = await recorded(world, 'installation', {
        action: 'deleted',
        installation: { id: await installationId(world), app_id: 5001, account: { id: 2002, login: 'globex' } },
        sender: { id: 1004 },
      })
      const answer = await deliver(world, removal, id)
      if (answer.status !== 202) return judgeBroker(answer)
      const after = await waitUntil(
        'the Installation to have seen it',
        async () => {
          const shown = (await world.admin.call('GET', installations)) as Shown & {
            readonly metadata: { readonly annotations?: object }
          }
          const woken = JSON.stringify(shown.metadata.annotations ?? {}).includes(id)
          return woken && JSON.stringify(shown.status).includes(id) ? shown : undefined
        },
        { timeoutMilliseconds: limits.rollout },
      )
      const ready = after.status?.conditions?.find(({ type }) => type === 'Ready')
      return ready?.status === 'True'
        ? stopped('controller', `woken by an old removal: the Installation is ${ready.reason}`)
        : succeeded(`the Installation is ${ready?.reason}: ${ready?.message}`)
    },
  }
}

export const webhookReplayAttacks: readonly Attack[] = [
  {
    name: 'broker/webhook-replay',
    as: 'somebody who recorded deliveries of GitHub with their signatures',
    against: 'what follows a repository, and installations',
    tries: 'Sends them again: under the same and other ids, as other events, changed, and after things have gone on.',
    expected: ['broker', 'authentication', 'controller'],
    attempts: world => [
      // The wake of the next replaces that of the one before.
      ...inTurn([
        sameDelivery(world),
        replayedPush(world, 'of an old commit', {}),
        replayedPush(world, 'that deleted the branch', { after: '0'.repeat(40), deleted: true }),
      ]),
      replayedRemoval(world),
      changedDelivery(world, 'as the event installation', push => ({ ...push, event: 'installation' })),
      changedDelivery(world, 'as the event github_app_authorization', push => ({ ...push, event: 'github_app_authorization' })),
      changedDelivery(world, 'with another commit under its signature', push => ({
        ...push,
        body: push.body.replace('1'.repeat(40), '2'.repeat(40)),
      })),
      changedDelivery(world, 'with a space after it', push => ({ ...push, body: `${push.body} ` })),
    ],
  },
]
