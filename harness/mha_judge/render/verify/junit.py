"""A certification as JUnit XML: a suite a problem, a case for each thing that was looked at."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from mha_judge.certify.models import Certification
from mha_judge.render.report.junit import document, xml_text


def render(certification: Certification) -> str:
    """Return the XML text."""
    suites = ET.Element("testsuites")
    for certificate in certification.problems:
        suite = ET.SubElement(suites, "testsuite", name=certificate.problem)
        failures = 0
        for subject in certificate.subjects:
            case = ET.SubElement(
                suite, "testcase", classname=certificate.problem, name=xml_text(subject)
            )
            faults = [f.message for f in certificate.faults if f.subject == subject]
            if faults:
                failures += 1
                failure = ET.SubElement(case, "failure", message=xml_text(faults[0]))
                failure.text = xml_text("\n".join(faults))
        suite.set("tests", str(len(certificate.subjects)))
        suite.set("failures", str(failures))
    return document(suites)
