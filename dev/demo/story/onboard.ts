// Chapter one: the owner of acme signs in, brings the organisation, and it becomes a tenant.
import { Browser, offers, type Page, summary } from '../browser.ts'
import { BrokenPromise, eventually, expectThat, type Step } from '../steps.ts'
import { run } from '../tools.ts'
import { tenantNamespace, type World } from '../world.ts'
import { commandLineLogin, passSignIn } from './sign-in.ts'

export function onboardSteps(world: World): readonly Step[] {
  const browser = new Browser({ certificateAuthority: world.certificateAuthority })
  const { olivia } = world.people
  return [
    {
      title: 'olivia, owner of acme, signs in with GitHub',
      run: async () => {
        const page = await passSignIn(browser, await browser.open(`${world.tools.issuer}/login`), 'olivia')
        expectThat(page.status === 200 && page.html.includes('olivia'), `not signed in: ${summary(page)}`)
        return undefined
      },
    },
    {
      title: 'she brings acme: the App is installed, her ownership proved, the tenant made',
      run: async () => {
        const page = await bringAcme(browser, world)
        await browser.close()
        return page
      },
    },
    {
      title: 'kubectl wait --for=condition=Ready holds for the Tenant and its Installation',
      run: async () => {
        await commandLineLogin(world, olivia)
        await eventually('the Installation is Ready', 60, async () => {
          const kubectl = (args: readonly string[]) => run(olivia, world.tools.kubectl, args)
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
        })
        return undefined
      },
    },
  ]
}

/** On a platform where acme is a tenant already, the page says so and nothing is made anew. */
async function bringAcme(browser: Browser, world: World): Promise<string> {
  const existing = await browser.open(`${world.tools.issuer}/tenants/acme`)
  if (existing.status === 200) return 'acme was onboarded by an earlier run'
  const choose = await browser.open(`${world.tools.issuer}/onboard`)
  const confirm = offers(choose, 'Continue with acme')
    ? await browser.press(choose, 'Continue with acme')
    : await installOnAcme(browser, choose)
  expectThat(offers(confirm, 'Create the tenant'), `ownership was not accepted: ${summary(confirm)}`)
  const team = confirm.root
    .querySelectorAll('label')
    .find(label => label.text.includes('developers'))
    ?.querySelector('input')
    ?.getAttribute('value')
  expectThat(team !== undefined, `the team developers is not offered: ${summary(confirm)}`)
  let page: Page = await browser.press(confirm, 'Create the tenant', { team: [team] })
  await eventually('the tenant page says Ready', 60, async () => {
    page = await browser.open(`${world.tools.issuer}/tenants/acme`)
    const cells = page.root.querySelectorAll('td').map(cell => cell.text.trim())
    return cells.filter(cell => cell === 'Ready').length >= 2 || undefined
  }).catch(() => {
    throw new BrokenPromise(`the tenant did not become ready: ${summary(page)}`)
  })
  return `tenant page: ${page.url.href}`
}

async function installOnAcme(browser: Browser, choose: Page): Promise<Page> {
  const accounts = await browser.press(choose, 'Install the App on GitHub')
  const repositories = await browser.follow(accounts, 'Install on acme')
  return browser.press(repositories, 'Install', { repository_selection: 'all' })
}
