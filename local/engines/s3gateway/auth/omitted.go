// Accounts of the gateway that are kept by other services: their files, and with them libraries of
// Vault, LDAP and AWS, are removed before the build (`s3.py`). auth.New still names them.
package auth

import "errors"

var errOmitted = errors.New("accounts of other services are not part of this program")

type IAMServiceStandaloneConfig struct {
	Endpoint, Access, Secret, ClientCert, ClientCertKey, ServerCA, Region string
	DefaultUserID, DefaultGroupID, DefaultProjectID                       int
}

func NewIAMServiceStandalone(Account, IAMServiceStandaloneConfig) (IAMService, error) {
	return nil, errOmitted
}

func NewLDAPService(
	_ Account, _, _, _, _, _, _, _, _, _, _, _ string, _ bool,
) (IAMService, error) {
	return nil, errOmitted
}

func NewS3(_ Account, _, _, _, _, _ string, _ bool) (IAMService, error) { return nil, errOmitted }

func NewVaultIAMService(Account, ...string) (IAMService, error) { return nil, errOmitted }

func NewIpaIAMService(_ Account, _, _, _, _ string, _ bool) (IAMService, error) {
	return nil, errOmitted
}
