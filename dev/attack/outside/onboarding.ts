// Onboarding and sign-in on the pages: another account's installation, in every form of its number; states and codes that were
// used, were made for another person, or come from another browser; forms without their secret.

import type { Browser, Page } from '../../demo/browser.ts'
import { offers } from '../../demo/browser.ts'
import { tenantNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { judgeBroker } from '../judge.ts'
import { stopped, type Verdict } from '../verdict.ts'
import type { PersonActor } from '../world/actors.ts'
import type { HttpAnswer } from '../world/http.ts'
import type { World } from '../world/world.ts'
import { formSecret, freshBrowser, newBrowser, signedIn } from './visitor.ts'

const answerOf = ({ status, html }: Page): HttpAnswer => ({ status, text: html })

async function victimInstallation(world: World): Promise<string> {
  const { spec } = (await world.admin.call(
    'GET',
    `/apis/github.sekisho.dev/v1alpha1/namespaces/${tenantNamespace}/installations/github`,
  )) as {
    spec: { installationId: number }
  }
  return String(spec.installationId)
}

function page(name: string, act: () => Promise<Page>): Attempt {
  return { name, run: async () => judgeBroker(answerOf(await act())) }
}

async function callbackAs(world: World, login: PersonActor, query: string): Promise<Page> {
  return (await signedIn(world, login)).open(`${world.targets.issuer}/onboard/callback?installation_id=${query}`)
}

/** Onboarding begins anew with the person's own accounts, and the installation of the address is not looked at. */
function judgeStart(page: Page): Verdict {
  const { status, text } = answerOf(page)
  const starts = status === 200 && page.url.pathname === '/onboard' && page.url.search === ''
  if (starts && !offers(page, `Continue with ${tenantNamespace}`)) return stopped('broker', `${status} ${page.url.pathname}`)
  return judgeBroker({ status, text })
}

async function installationAttempts(world: World): Promise<readonly Attempt[]> {
  const id = await victimInstallation(world)
  const url = `${world.targets.issuer}/onboard/installed`
  const claim = (login: PersonActor, number: string): Attempt =>
    page(`${login}: the installation ${JSON.stringify(number).slice(0, 40)}`, async () =>
      (await signedIn(world, login)).submit(url, { csrf: await formSecret(world, login), installation_id: number }),
    )
  const forms = [
    `0x${Number(id).toString(16)}`,
    `${id}abc`,
    ` ${id}`,
    `+${id}`,
    `-${id}`,
    `${id}.0`,
    `${id}e0`,
    `${id},1`,
    `1\n${id}`,
    '9'.repeat(40),
    '',
    '0',
    'null',
    '１００００３',
  ]
  return [
    ...(['gary', 'noah', 'dave', 'mia'] as const).map(login => claim(login, id)),
    ...forms.map(form => claim('gary', form)),
    page('gary: the installation without the form’s secret', async () =>
      (await signedIn(world, 'gary')).submit(url, { installation_id: id }),
    ),
    page('gary: the installation with noah’s secret', async () =>
      (await signedIn(world, 'gary')).submit(url, { csrf: await formSecret(world, 'noah'), installation_id: id }),
    ),
    page('gary: the installation twice in one form', async () =>
      (await signedIn(world, 'gary')).open(
        `${world.targets.issuer}/onboard/callback?installation_id=1&installation_id=${id}&setup_action=install`,
      ),
    ),
    ...['&state=x', `&state=${'A'.repeat(43)}`, '&setup_action=delete'].map(more =>
      page(`gary: the callback of GitHub with acme’s installation ${more}`, async () =>
        callbackAs(world, 'gary', `${id}${more}`),
      ),
    ),
    ...['', '&setup_action=install', '&setup_action=update'].map(
      (more): Attempt => ({
        name: `gary: the callback of GitHub without a state, with acme’s installation ${more}`,
        run: async () => judgeStart(await callbackAs(world, 'gary', `${id}${more}`)),
      }),
    ),
  ]
}

/** Begins an installation and stops at GitHub; the state that GitHub would send back. */
async function stateOf(world: World, login: PersonActor): Promise<{ readonly browser: Browser; readonly state: string }> {
  const web = new URL(world.demo.githubWeb).host
  const stopping = freshBrowser(world, url => url.host === web && url.pathname.startsWith('/apps/') && stops)
  let stops = false
  const { passSignIn } = await import('../../demo/scenario/sign-in.ts')
  await passSignIn(stopping, await stopping.open(`${world.targets.issuer}/login`), login)
  stops = true
  const choose = await stopping.open(`${world.targets.issuer}/onboard`)
  const there = await stopping.press(choose, 'Install the App on GitHub')
  const state = there.url.searchParams.get('state')
  if (state === null) throw new Error(`no state at ${there.url.pathname}`)
  return { browser: stopping, state }
}

async function stateAttempts(world: World): Promise<readonly Attempt[]> {
  const { issuer } = world.targets
  const id = await victimInstallation(world)
  const callback = (state: string): string =>
    `${issuer}/onboard/callback?installation_id=${id}&setup_action=install&state=${state}`
  return [
    page('gary: the installation of acme with a state of his own', async () => {
      const { browser, state } = await stateOf(world, 'gary')
      return browser.open(callback(state))
    }),
    page('gary: his own state a second time', async () => {
      const { browser, state } = await stateOf(world, 'gary')
      await browser.open(callback(state))
      return browser.open(callback(state))
    }),
    page('gary: the state of olivia', async () => {
      const { state } = await stateOf(world, 'olivia')
      return (await newBrowser(world, 'gary')).open(callback(state))
    }),
    page('olivia follows a link with gary’s state', async () => {
      const { state } = await stateOf(world, 'gary')
      return (await newBrowser(world, 'olivia')).open(callback(state))
    }),
    page('noah: an onboarding of gary', async () => {
      const gary = await newBrowser(world, 'gary')
      const choose = await gary.open(`${issuer}/onboard`)
      if (!offers(choose, 'Continue with globex')) throw new Error('the page does not offer globex to gary')
      const confirm = await gary.press(choose, 'Continue with globex')
      return (await signedIn(world, 'noah')).open(confirm.url)
    }),
  ]
}

/** A sign-in that stops before its callback: the address to which GitHub sends the browser. */
async function unfinishedSignIn(world: World, login: string): Promise<{ readonly browser: Browser; readonly callback: URL }> {
  const browser = freshBrowser(world, url => url.pathname === '/login/callback')
  const { passSignIn } = await import('../../demo/scenario/sign-in.ts')
  const end = await passSignIn(browser, await browser.open(`${world.targets.issuer}/login`), login)
  if (end.url.searchParams.get('code') === null) throw new Error(`the sign-in of ${login} has no code`)
  return { browser, callback: end.url }
}

function signInAttempts(world: World): readonly Attempt[] {
  const { issuer } = world.targets
  const without = (url: URL, ...names: readonly string[]): URL => {
    const changed = new URL(url)
    for (const name of names) changed.searchParams.delete(name)
    return changed
  }
  const link = (name: string, change: (callback: URL) => URL): Attempt =>
    page(`a person follows ${name}`, async () =>
      freshBrowser(world).open(change((await unfinishedSignIn(world, 'gary')).callback)),
    )
  return [
    link('a link with gary’s code and state (login CSRF)', url => url),
    link('a link without a state', url => without(url, 'state')),
    link('a link without a code', url => without(url, 'code')),
    link('a link with a state that was never issued', url => {
      url.searchParams.set('state', 'A'.repeat(43))
      return url
    }),
    page('gary’s code in a sign-in that another browser began (PKCE)', async () => {
      const victim = await unfinishedSignIn(world, 'noah')
      const { callback } = await unfinishedSignIn(world, 'gary')
      const mixed = new URL(victim.callback)
      mixed.searchParams.set('code', callback.searchParams.get('code') ?? '')
      return freshBrowser(world).open(mixed)
    }),
    page('a code and its state a second time', async () => {
      const { callback } = await unfinishedSignIn(world, 'noah')
      const first = freshBrowser(world)
      await first.open(callback)
      return first.open(callback)
    }),
    page('a form of another site', async () => (await signedIn(world, 'noah')).submit(`${issuer}/onboard`, { csrf: 'x' })),
  ]
}

export const onboardingAttacks: readonly Attack[] = [
  {
    name: 'onboarding/installations',
    as: 'gary of globex, dave and mia, members of acme, and noah',
    against: 'the installation of acme',
    tries: 'Binds acme’s installation without owning acme, by its number in every spelling, and by GitHub’s callback.',
    expected: ['broker', 'authentication'],
    attempts: installationAttempts,
  },
  {
    name: 'onboarding/states',
    as: 'gary of globex and noah',
    against: 'onboardings of others',
    tries: 'States that were used, that belong to another person or browser, and pending onboardings of others.',
    expected: ['broker', 'authentication'],
    peer: 'Coolify CVE-2025-64423: invitations used by another person',
    attempts: stateAttempts,
  },
  {
    name: 'onboarding/sign-in',
    as: 'an attacker who sends a person a link',
    against: 'people who sign in',
    tries: 'Codes and states of another sign-in, replayed, mixed or left out.',
    expected: ['broker', 'authentication'],
    attempts: signInAttempts,
  },
]
