// Which version of the ExecCredential kubectl asks for. It refuses an answer in another version than the one that its
// kubeconfig names and that it passes on:
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#input-and-output-formats
import { AppError } from '../lib/errors.ts'
import { asObject, parseJson, textAt } from '../lib/json/json-value.ts'
import { execInfo } from './config.ts'

const group = 'client.authentication.k8s.io'
const known: readonly string[] = [`${group}/v1`, `${group}/v1beta1`]

/** The version in `KUBERNETES_EXEC_INFO`; v1 without it. Throws `invalid_request` for one that is neither v1 nor v1beta1. */
export function askedApiVersion(info: string | undefined = execInfo()): string {
  if (info === undefined) return `${group}/v1`
  const asked = textAt(asObject(parseJson(info)), 'apiVersion')
  if (asked !== undefined && known.includes(asked)) return asked
  throw new AppError(
    'invalid_request',
    `kubectl asks for ${asked?.slice(0, 100) ?? 'a credential without apiVersion'}; the user in the kubeconfig must have the exec apiVersion ${known.join(' or ')}: run sekisho kubeconfig again`,
  )
}
