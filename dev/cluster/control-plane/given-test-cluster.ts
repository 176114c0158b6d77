// Whether a control plane that somebody else started is one for the tests (SEKISHO_TEST_KUBECONFIG).
import { AppError } from '../../../src/lib/errors.ts'
import { catalog } from '../binaries/catalog.ts'
import type { Answer } from './admin-client.ts'

const variable = 'SEKISHO_TEST_KUBECONFIG'

function minorOf(version: string): number {
  return Number(/^v?1\.(\d+)/.exec(version)?.[1])
}

/**
 * `answer`: to `GET /version`, or why there is none. https://kubernetes.io/docs/reference/using-api/
 * @throws a sentence with the cure when it is older than the tests' own, or does not say what it is
 */
export function demandVersion(kubeconfig: string, answer: Answer | string): void {
  const cure = `or unset ${variable}, and the tests start their own`
  if (typeof answer === 'string')
    throw new AppError('unavailable', `the cluster of ${variable}=${kubeconfig} does not answer (${answer}): start it, ${cure}`)
  const found = (answer.body as { readonly gitVersion?: string } | undefined)?.gitVersion ?? `status ${answer.status}`
  const needed = catalog.kubernetes.version
  if (!(minorOf(found) >= minorOf(needed)))
    throw new AppError(
      'conflict',
      `the cluster of ${variable}=${kubeconfig} is of another version (${found}) than the tests need (${needed} or newer): upgrade it, ${cure}`,
    )
}
