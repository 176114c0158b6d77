// New logins on GitHub, by the page on which a person renames themselves or an organisation that they own. The number of an
// account stays.
import { Browser } from '../../demo/browser.ts'
import type { DemoContext } from '../../demo/context.ts'
import { passSignIn } from '../../demo/scenario/sign-in.ts'
import type { Http } from './http.ts'

/** Accounts that attacks rename, by number, with the logins that everything else expects. */
const accounts = { globex: 2002, gary: 1004, noah: 1005 } as const
type Name = keyof typeof accounts

type GitHub = { readonly demo: DemoContext; readonly http: Http }

/** The present login. */
async function loginOf({ demo, http }: GitHub, name: Name): Promise<string> {
  const answer = await http.send(`${demo.githubWeb}/api/v3/user/${accounts[name]}`)
  if (answer.status !== 200) throw new Error(`GitHub does not show account ${accounts[name]}: ${answer.status}`)
  return (JSON.parse(answer.text) as { readonly login: string }).login
}

/** gary renames globex, and each person themselves. */
export async function rename(world: GitHub, name: Name, login: string): Promise<void> {
  const person = await loginOf(world, name === 'globex' ? 'gary' : name)
  const path = name === 'globex' ? `organizations/${await loginOf(world, name)}/settings/profile` : 'settings/admin'
  const browser = new Browser()
  try {
    const page = await passSignIn(browser, await browser.open(`${world.demo.githubWeb}/${path}`), person)
    const after = await browser.press(page, name === 'globex' ? 'Rename organization' : 'Change username', { login })
    if (after.status !== 200) throw new Error(`${person} cannot rename ${name} to ${login}: ${after.status}`)
  } finally {
    await browser.close()
  }
}

/**
 * All have the logins again that everything else expects: also after a run that was killed. Those who took one give it back
 * first.
 */
export async function restoreLogins(world: GitHub): Promise<void> {
  for (const name of ['noah', 'gary', 'globex'] as const)
    if ((await loginOf(world, name)) !== name) await rename(world, name, name)
}
