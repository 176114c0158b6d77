// An owner uninstalls the App on GitHub: what depends on it ends. They install and onboard it again: everything works at once,
// without waiting for any schedule.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../../dev/demo/browser.ts'
import { tenantNamespace } from '../../dev/demo/context.ts'
import { runDemo } from '../../dev/demo/run.ts'
import { passSignIn } from '../../dev/demo/scenario/sign-in.ts'
import { isLong } from '../fixtures/form.ts'
import { openPlatform, type Platform } from './platform.ts'

let platform: Platform

beforeAll(async () => {
  platform = await openPlatform(['olivia'])
})

afterAll(() => platform.admin.close())

/** On GitHub's pages, as olivia. */
async function uninstall(): Promise<void> {
  const { githubWeb } = platform.world
  const browser = new Browser()
  await passSignIn(browser, await browser.open(`${githubWeb}/login`), 'olivia')
  const accounts = await browser.open(`${githubWeb}/github-apps/sekisho-dev/installations/new`)
  await browser.press(await browser.follow(accounts, `Configure ${tenantNamespace}`), 'Uninstall')
  await browser.close()
}

function wait(condition: string, object: string) {
  return platform.kubectl('olivia', ['wait', `--for=condition=${condition}`, object, '-n', tenantNamespace, '--timeout=30s'])
}

test('after the App was uninstalled and installed again the demo passes at once', async () => {
  expect(await wait('Ready=True', 'installation/github')).toMatchObject({ code: 0 })
  await uninstall()
  expect(await wait('Ready=False', 'installation/github')).toMatchObject({ code: 0 })
  expect(await wait('Ready=False', 'repositorygrant/remotesync-shop')).toMatchObject({ code: 0 })
  // The other steps use what these make: the long form plays them, too.
  await runDemo(isLong('reinstall') ? {} : { only: 'main job' })
})
