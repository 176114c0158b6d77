// Takes every Service of a tenant away from kube-proxy as it is made, and whenever what decides about its pairs of port and
// endpoint changes, until the controller has counted them (docs/adr/0062-bound-on-ports-times-endpoints.md). A label that a
// request leaves out is put back; another one that it sets is left to the rule service-proxy. Who makes slices must see the
// value, so each change has its own: with the version that it changes.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/
import { serviceProxyLabel, uncounted, uncountedSince } from '../../api/tenancy/service-proxy.ts'
import { administers, celList, celText } from '../rule.ts'
import { addPatch, type Mutation } from './mutation.ts'

/** What the values of the platform begin with. */
const ours = 'sekisho.dev-'
const key = celText(serviceProxyLabel)

/** A list of the value, or of nothing: also an empty value takes a Service away. */
const proxyOf = (object: string): string => `[?${object}.metadata.?labels[?${key}]]`

/** The API server fills these in again when a request leaves them out. */
const changedWhereSet = (field: string, none: string): string =>
  `(object.spec.?${field}.orValue(${none}) != ${none} && object.spec.?${field}.orValue(${none}) != oldObject.spec.?${field}.orValue(${none}))`

const changes = [
  'object.spec.?selector.orValue({}) != oldObject.spec.?selector.orValue({})',
  'object.spec.?ports.orValue([]) != oldObject.spec.?ports.orValue([])',
  ...['type', 'clusterIP', 'sessionAffinity', 'ipFamilyPolicy'].map(field => changedWhereSet(field, "''")),
  changedWhereSet('ipFamilies', '[]'),
].join(' || ')

const path = celText(`/metadata/labels/${serviceProxyLabel.replace('/', '~1')}`)

export const serviceProxyMutation: Mutation = {
  name: 'service-proxy',
  scope: 'application-namespaces',
  match: { group: '', resources: ['services'], operations: ['CREATE', 'UPDATE'] },
  policy: ({ controllers }) => ({
    variables: [
      { name: 'proxy', expression: proxyOf('object') },
      { name: 'proxyBefore', expression: `oldObject == null ? [] : ${proxyOf('oldObject')}` },
      // kube-proxy programs no endpoints of others.
      {
        name: 'served',
        expression:
          "object.spec.?clusterIP.orValue('') != 'None' && object.spec.?type.orValue('') != 'ExternalName' && object.spec.?selector.orValue({}).size() > 0",
      },
      // Of another proxy, which an administrator chose.
      { name: 'foreign', expression: `variables.proxyBefore.exists(value, !value.startsWith(${celText(ours)}))` },
      { name: 'changed', expression: `oldObject == null || ${changes}` },
      {
        name: 'fresh',
        expression: `oldObject == null ? ${celText(uncounted)} : ${celText(uncountedSince(''))} + oldObject.metadata.resourceVersion`,
      },
      {
        name: 'wanted',
        expression: [
          'variables.served && variables.changed && !variables.foreign && (variables.proxy == [] || variables.proxy == variables.proxyBefore) ? [variables.fresh]',
          `: variables.proxy == [] && variables.proxyBefore != [] && !(request.userInfo.username in ${celList(controllers)} || ${administers}) ? variables.proxyBefore`,
          ': []',
        ].join(' '),
      },
    ],
    patches: [
      'variables.wanted == [] ? []',
      `: object.metadata.?labels.hasValue() ? [${addPatch(path, 'variables.wanted[0]')}]`,
      `: [${addPatch("'/metadata/labels'", `{${key}: variables.wanted[0]}`)}]`,
    ].join(' '),
  }),
}
