// A grant that people answer for: a policy of an admin requires it, dave requests, and olivia approves it in her browser; then a
// policy in mode Audit says what it would have done.
import type { RepositoryGrant } from '../../../../src/api/github/repository-grant.ts'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import { Browser, offers, type Page, summary } from '../../browser.ts'
import { type DemoContext, tenantNamespace } from '../../context.ts'
import { expectThat, type Step } from '../../steps.ts'
import { mustRun, type Person, run } from '../../tools.ts'
import { commandLineLogin, passSignIn } from '../sign-in.ts'

const [grantName, account] = ['demo-release', 'demo-release']
const here = ['-n', tenantNamespace]

const policy = (name: string, mode: string, effect: string): string => `apiVersion: github.sekisho.dev/v1alpha1
kind: GrantPolicy
metadata: {name: ${name}, namespace: ${tenantNamespace}}
spec:
  mode: ${mode}
  rules:
  - name: releases
    effect: ${effect}
    permissions: {contents: read}
    subjects: [{kind: ServiceAccount, name: ${account}}]
`

const grant = `apiVersion: github.sekisho.dev/v1alpha1
kind: RepositoryGrant
metadata: {name: ${grantName}, namespace: ${tenantNamespace}}
spec:
  installation: github
  repositories: [acme/shop]
  permissions: {contents: read}
  subjects: [{kind: ServiceAccount, name: ${account}}]
  reason: the demo shows a grant that waits
`

/** The page of the grants that wait, in a browser of that person. */
async function onPage<T>(demo: DemoContext, { login }: Person, work: (browser: Browser, page: Page) => Promise<T>): Promise<T> {
  const browser = new Browser({ certificateAuthority: demo.certificateAuthority })
  try {
    await passSignIn(browser, await browser.open(`${demo.tools.issuer}/login`), login)
    const tenant = await browser.open(`${demo.tools.issuer}/tenants/${tenantNamespace}`)
    return await work(browser, await browser.follow(tenant, 'Look at them'))
  } finally {
    await browser.close()
  }
}

export function approvalSteps(demo: DemoContext): readonly Step[] {
  const { dave, olivia } = demo.people
  const kubectl = (who: Person, args: readonly string[], input?: string): Promise<string> =>
    mustRun(who, demo.tools.kubectl, args, input === undefined ? {} : { input })
  const sekisho = (who: Person, args: readonly string[]) => run(who, demo.tools.sekisho, ['grants', ...args])
  const grantWhen = (what: string, is: (status: NonNullable<RepositoryGrant['status']>) => boolean): Promise<RepositoryGrant> =>
    waitUntil(what, async seen => {
      const object: RepositoryGrant = JSON.parse(
        await kubectl(dave, ['get', `repositorygrant/${grantName}`, ...here, '-o', 'json']),
      )
      return is(seen(object.status) ?? {}) ? object : undefined
    })
  const uidOf = () => kubectl(olivia, ['get', `repositorygrant/${grantName}`, ...here, '-o', 'jsonpath={.metadata.uid}'])
  const forget = async (): Promise<void> => {
    const policies = ['grantpolicy/demo-approval', 'grantpolicy/demo-audit']
    await kubectl(olivia, ['delete', `repositorygrant/${grantName}`, ...policies, ...here, '--ignore-not-found', '--wait=true'])
  }
  return [
    {
      title: 'a policy of olivia requires approval: the grant that dave requests waits, and dave cannot approve it',
      run: async () => {
        await commandLineLogin(demo, olivia)
        await forget()
        await kubectl(olivia, ['apply', '-f', '-'], policy('demo-approval', 'Enforce', 'RequireApproval'))
        await kubectl(dave, ['apply', '-f', '-'], grant)
        await grantWhen('the grant waits', ({ decision }) => decision === 'Waiting')
        const own = await sekisho(dave, ['approve', grantName, '--uid', await uidOf(), '--reason', 'it is mine', ...here])
        expectThat(own.code !== 0 && own.errors.includes('another admin'), `dave approved his own grant: ${own.errors}`)
        const { output } = await sekisho(olivia, ['list', '--waiting', ...here])
        expectThat(output.includes(grantName), `olivia does not see what waits: ${output}`)
        return own.errors.trim().slice(0, 200)
      },
    },
    {
      title: 'olivia approves it on the page of her tenant, where dave has no form; a token may be requested from then on',
      run: async () => {
        await onPage(demo, dave, async (_, page) => {
          expectThat(page.html.includes(await uidOf()), `dave does not see his grant: ${summary(page)}`)
          expectThat(!offers(page, `Answer for ${grantName}`), `dave is offered an answer: ${summary(page)}`)
        })
        const asked = await onPage(demo, olivia, async (browser, page) => {
          const answered = await browser.press(page, `Answer for ${grantName}`, { answer: 'Approve', reason: 'releases need it' })
          expectThat(answered.status === 200, `her answer was refused: ${summary(answered)}`)
          return summary(page)
        })
        await grantWhen('the grant is approved', ({ decision }) => decision === 'Approved')
        const answers = await kubectl(olivia, ['get', 'grantapprovals', ...here, '-o', 'jsonpath={.items[*].spec}'])
        expectThat(answers.includes('"via":"Page"'), `the answer was not given on the page: ${answers}`)
        return asked
      },
    },
    {
      title: 'a policy in mode Audit says that it would have refused it',
      run: async () => {
        await grantWhen('the grant is approved', ({ decision }) => decision === 'Approved')
        await kubectl(olivia, ['apply', '-f', '-'], policy('demo-audit', 'Audit', 'Deny'))
        const { status } = await grantWhen('the policy says what it would do', ({ audit }) => audit?.decision === 'Denied')
        expectThat(status?.decision === 'Approved', `a policy in mode Audit decided: ${status?.decision}`)
        const { output } = await sekisho(dave, ['explain', grantName, ...here])
        expectThat(output.includes('releases need it'), `the answer is not explained: ${output}`)
        await forget()
        return output.trim().replaceAll('\n', '\n             ')
      },
    },
  ]
}
