// Certificates of their own for tests, written to files as an operator would have them.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace taut::net {

/// A self-signed certificate and its key in two files, removed with the object.
class CertificateFiles {
 public:
  explicit CertificateFiles(const std::string& name)
      : stem_("/tmp/taut-" + std::to_string(::getpid()) + "-" + name) {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3'600);
    X509_set_pubkey(certificate, key);
    X509_NAME* subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(certificate, subject);
    X509_sign(certificate, key, EVP_sha256());
    if (FILE* file = std::fopen(cert().c_str(), "w"); file != nullptr) {
      PEM_write_X509(file, certificate);
      std::fclose(file);
    }
    if (FILE* file = std::fopen(this->key().c_str(), "w"); file != nullptr) {
      PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
      std::fclose(file);
    }
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  CertificateFiles(const CertificateFiles&) = delete;
  CertificateFiles& operator=(const CertificateFiles&) = delete;
  ~CertificateFiles() {
    std::remove(cert().c_str());
    std::remove(key().c_str());
  }

  [[nodiscard]] std::string cert() const { return stem_ + ".crt"; }
  [[nodiscard]] std::string key() const { return stem_ + ".key"; }

 private:
  std::string stem_;
};

}  // namespace taut::net
