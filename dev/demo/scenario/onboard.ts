// First part: the owner of acme signs in and onboards the organization as a tenant.
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { Browser, offers, type Page, summary } from '../browser.ts'
import { type DemoContext, tenantNamespace } from '../context.ts'
import { DemoFailure, expectThat, type Step } from '../steps.ts'
import { run, type ToolPaths } from '../tools.ts'
import { commandLineLogin, passSignIn } from './sign-in.ts'

export function onboardSteps(demo: DemoContext): readonly Step[] {
  const browser = new Browser({ certificateAuthority: demo.certificateAuthority })
  const { olivia } = demo.people
  return [
    {
      title: 'olivia, an owner of acme, signs in with GitHub',
      run: async () => {
        const page = await passSignIn(browser, await browser.open(`${demo.tools.issuer}/login`), 'olivia')
        expectThat(page.status === 200 && page.html.includes('olivia'), `not signed in: ${summary(page)}`)
        return undefined
      },
    },
    {
      title: 'olivia onboards acme: she installs the App, proves her ownership and creates the tenant',
      run: async () => {
        const page = await onboardAccount(browser, demo, { name: 'acme', team: 'developers' })
        await browser.close()
        return page
      },
    },
    {
      title: 'the Installation of the tenant becomes Ready',
      run: async () => {
        await commandLineLogin(demo, olivia)
        await waitUntil(
          'the Installation to be Ready',
          async () => {
            const kubectl = (args: readonly string[]) => run(olivia, demo.tools.kubectl, args)
            const installation = await kubectl([
              'wait',
              '--for=condition=Ready',
              'installation/github',
              '-n',
              tenantNamespace,
              '--timeout=10s',
            ])
            if (installation.code !== 0) throw new Error(installation.errors.trim())
            return true
          },
          { timeoutMilliseconds: limits.rollout },
        )
        return undefined
      },
    },
  ]
}

/** An account that its owner onboards: its name, and the team of its developers where it has one. */
type Account = { readonly name: string; readonly team?: string }

/**
 * Creates the tenant of the account; returns what it found or did. The browser is signed in. Does nothing after an earlier run,
 * unless the App was uninstalled since then: the owner installs and proves it again.
 */
export async function onboardAccount(
  browser: Browser,
  { tools: { issuer } }: { readonly tools: Pick<ToolPaths, 'issuer'> },
  { name, team }: Account,
): Promise<string> {
  const existing = await browser.open(`${issuer}/tenants/${name}`)
  if (existing.status === 200 && isReady(existing)) return `an earlier run onboarded ${name}`
  const choose = await browser.open(`${issuer}/onboard`)
  const confirm = offers(choose, `Continue with ${name}`)
    ? await browser.press(choose, `Continue with ${name}`)
    : await installOn(browser, choose, name)
  // The tenant of an account stays when the App is uninstalled.
  const button = offers(confirm, 'Update the tenant') ? 'Update the tenant' : 'Create the tenant'
  expectThat(offers(confirm, button), `ownership was not accepted: ${summary(confirm)}`)
  // Only of a new tenant: roles of one that exists are changed on a page of their own.
  const chosen = team === undefined || button === 'Update the tenant' ? {} : { team: [teamChoice(confirm, team)] }
  let page: Page = await browser.press(confirm, button, chosen)
  await waitUntil(
    'the tenant page to show Ready',
    async () => {
      page = await browser.open(`${issuer}/tenants/${name}`)
      return isReady(page)
    },
    // A person may load 120 pages a minute.
    { timeoutMilliseconds: limits.rollout, everyMilliseconds: 1000 },
  ).catch(() => {
    throw new DemoFailure(`the tenant did not become ready: ${summary(page)}`)
  })
  return `tenant page: ${page.url.href}`
}

/** Whether the tenant's page shows both the Tenant and its Installation as ready. */
function isReady(page: Page): boolean {
  const states = page.root.querySelectorAll('td .sign.good').map(state => state.text.trim())
  return states.filter(state => state.endsWith('Ready')).length >= 2
}

/** The value of the team's check box. */
function teamChoice(confirm: Page, team: string): string {
  const value = confirm.root
    .querySelectorAll('label')
    .find(label => label.text.includes(team))
    ?.querySelector('input')
    ?.getAttribute('value')
  expectThat(value !== undefined, `the page does not list the team ${team}: ${summary(confirm)}`)
  return value
}

async function installOn(browser: Browser, choose: Page, name: string): Promise<Page> {
  const accounts = await browser.press(choose, 'Install the App on GitHub')
  const repositories = await browser.follow(accounts, `Install on ${name}`)
  return browser.press(repositories, 'Install', { repository_selection: 'all' })
}
