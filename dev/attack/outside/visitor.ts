// People on the platform's pages: one browser for each, signed in once.
import { defined } from '../../../src/lib/json/defined.ts'
import { Browser, summary } from '../../demo/browser.ts'
import { passSignIn } from '../../demo/scenario/sign-in.ts'
import type { PersonActor } from '../world/actors.ts'
import type { World } from '../world/world.ts'

const browsers = new WeakMap<World, Map<PersonActor, Promise<Browser>>>()

/** The person's browser, signed in. It is shared by all attempts of the run. */
export function signedIn(world: World, login: PersonActor): Promise<Browser> {
  const known = browsers.get(world) ?? new Map<PersonActor, Promise<Browser>>()
  browsers.set(world, known)
  const browser = known.get(login) ?? newBrowser(world, login)
  known.set(login, browser)
  return browser
}

/** The secret of the forms that this person's pages have. */
export async function formSecret(world: World, login: PersonActor): Promise<string> {
  const page = await (await signedIn(world, login)).open(`${world.targets.issuer}/onboard`)
  const secret = page.root.querySelector('input[name=csrf]')?.getAttribute('value')
  if (secret === undefined) throw new Error(`the page /onboard of ${login} has no form`)
  return secret
}

/** A new browser of the person, signed in. */
export async function newBrowser(world: World, login: PersonActor): Promise<Browser> {
  const browser = freshBrowser(world)
  await signInWith(world, browser, login)
  return browser
}

async function signInWith(world: World, browser: Browser, login: PersonActor): Promise<void> {
  const page = await passSignIn(browser, await browser.open(`${world.targets.issuer}/login`), login)
  if (page.status === 200 && page.url.origin === new URL(world.targets.issuer).origin) return
  await browser.close()
  throw new Error(`${login} cannot sign in: ${summary(page)}`)
}

/** A browser without any cookie. */
export function freshBrowser(world: World, stopAt?: (url: URL) => boolean): Browser {
  return new Browser({ certificateAuthority: world.demo.certificateAuthority, ...defined({ stopAt }) })
}

/** A new browser of the person, signed in, that from then on stops at every address that `stopAt` names. */
export async function foreignHostBrowser(world: World, login: PersonActor, stopAt: (url: URL) => boolean): Promise<Browser> {
  let armed = false
  const browser = freshBrowser(world, url => armed && stopAt(url))
  await signInWith(world, browser, login)
  armed = true
  return browser
}
